package model

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/internal/names"
)

// An artifact is what a composed ModelArtifact has found.
type artifact struct {
	key string
	v1alpha1.ModelArtifactObservation
	looked bool // the provider has looked for the files
}

// artifact observes the ModelArtifact of one URL.
func (p *plan) artifact(res, url string) artifact {
	out := artifact{key: res + "-" + names.Hash(8, url)}
	var seen v1alpha1.ModelArtifact
	if p.Observed(out.key, &seen) {
		out.ModelArtifactObservation, out.looked = seen.Status.AtProvider, len(seen.Status.Conditions) > 0
	}
	return out
}

// desire composes a ModelArtifact. It is ready if its files are whole, or need not be.
func (p *plan) desire(via managed.Via, a artifact, params v1alpha1.ModelArtifactParameters, spare bool) error {
	want := &v1alpha1.ModelArtifact{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindModelArtifact},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.m.Namespace, Name: names.Object(p.m.Name, a.key)},
		Spec: v1alpha1.ModelArtifactSpec{
			ManagedResourceSpec: managed.Spec(via, xpv2.ManagementActionObserve),
			ForProvider:         params,
		},
	}
	return p.Desire(a.key, want, compose.Readiness(a.Whole || spare))
}

// verify is the value for which the files are to be verified.
func verify(m v1.Model) string {
	v := m.Annotations[v1.AnnotationVerify]
	if len(v) > 253 {
		return names.Hash(64, v)
	}
	return v
}

func progressKey(m v1.Model, url, stage string) string {
	return names.ProgressKey(m.Namespace, names.Hash(16, url), stage)
}

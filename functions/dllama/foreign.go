package dllama

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// foreign reports whether the Model is another namespace's. What serves it here
// is a pool of this namespace, under the Model's name: it must not be given
// what the people of the other one ask.
func (p *plan) foreign() bool { return p.modelNamespace != p.d.Namespace }

// taken refuses a foreign Model whose name a Model of this namespace has: both
// would be one pool.
func (p *plan) taken() (blocked bool) {
	if !p.foreign() {
		return false
	}
	found, _ := p.Require("namesake", v1.APIVersion, v1.KindModel, p.d.Namespace, p.modelName, &v1.Model{})
	if found {
		p.fail(reason.ModelFailed, "spec.modelRef: a Model %q is in namespace %q too, so one of another namespace cannot be served under that name: rename one", p.modelName, p.d.Namespace)
	}
	return found && !p.Exists(resRoot)
}

// listing has a foreign Model listed in this namespace, so that it can be asked
// for here. The members of a Session share the entry, so none of them takes it
// away.
func (p *plan) listing(via managed.Via) *v1alpha1.ModelRecord {
	spec := managed.Spec(via)
	if p.d.Labels[v1.LabelSession] != "" {
		spec = managed.Spec(via, xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate)
	}
	return &v1alpha1.ModelRecord{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindModelRecord},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.d.Namespace, Name: names.Object(p.d.Name, "dllama", "record")},
		Spec: v1alpha1.ModelRecordSpec{
			ManagedResourceSpec: spec,
			ForProvider:         v1alpha1.ModelRecordParameters{Namespace: p.d.Namespace, Name: p.modelName, ArtifactURL: p.artifact.URL},
		},
	}
}

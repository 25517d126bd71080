package model

import (
	"cmp"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/preflight"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/model/modelref"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
)

// A revision is what the hub says of the source.
type revision struct {
	commit string
	unfit  string // why the model cannot run; empty if it can
	small  string // why the volume cannot hold it; empty if it can
}

// resRevisionOf names the composed HubRevision of a source.
func resRevisionOf(ref modelref.Ref) string { return resRevision + "-" + names.Hash(8, ref.String()) }

// revision composes the HubRevision, and refuses a model whose config.json says
// that it cannot be converted. A refusal of the hub comes before what is pending, and
// that before the commit.
func (p *hubPlan) revision(pending managed.Pending) (out revision, next compose.Next, err error) {
	ref := p.to.ref
	res, source := resRevisionOf(ref), ref
	source.Revision = ""
	want := &v1alpha1.HubRevision{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindHubRevision},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.m.Namespace, Name: names.Object(p.m.Name, resRevision, names.Hash(8, ref.String()))},
		Spec: v1alpha1.HubRevisionSpec{
			ManagedResourceSpec: managed.Observed(p.via, hubSecret(p.m, ref)),
			ForProvider: v1alpha1.HubRevisionParameters{
				Source:         source.String(),
				Revision:       cmp.Or(ref.Revision, "main"),
				TokenSecretRef: tokenSecret(p.m),
			},
		},
	}
	if !converts(p.m.Spec) { // the size that the hub says is then the size of the Model
		var d v1.Download
		if p.m.Spec.Download != nil {
			d = *p.m.Spec.Download
		}
		want.Spec.ForProvider.Include, want.Spec.ForProvider.Exclude = modelref.Files(d.Include, d.Exclude)
	}
	var seen v1alpha1.HubRevision
	var found v1alpha1.HubRevisionObservation
	if p.Observed(res, &seen) {
		found = seen.Status.AtProvider
	}
	resolved := found.Commit != ""
	if err := p.Desire(res, want, compose.Readiness(resolved)); err != nil {
		return out, compose.Stop, err
	}
	switch {
	case !resolved && found.NotAllowed:
		return out, p.Deny("spec.sourceUrl: " + found.Refusal), nil
	case !resolved && found.Refusal != "":
		p.unresolved(reason.RevisionUnavailable, source, want.Spec.ForProvider.Revision, found.Refusal)
		return out, compose.Stop, nil
	case pending.Any():
		p.FailIf(pending.Reason, pending.Message)
		return out, compose.Stop, nil
	case !resolved:
		_, trouble := managed.Ready(p.Call, res)
		p.unresolved(reason.ResolvingRevision, source, want.Spec.ForProvider.Revision, cmp.Or(trouble, "the hub has not answered yet"))
		return out, compose.Stop, nil
	}
	out.commit, p.status.Commit = found.Commit, found.Commit
	if !converts(p.m.Spec) {
		out.small = p.tooSmall(found.SizeBytes)
		return out, compose.Continue, nil
	}
	if found.Config == "" {
		return out, compose.Continue, nil
	}
	shape, err := topology.FromConfig([]byte(found.Config), topology.FloatType(weightsOf(p.m.Spec.Conversion)))
	if err != nil {
		p.Fail(reason.ModelUnsupported, "The model cannot be converted: %v", err)
		return out, compose.Stop, nil
	}
	p.status.Shape = preflight.StatusOf(shape)
	out.unfit, out.small = cannotRun(p.m, shape), p.tooSmall(shape.WeightBytes())
	return out, compose.Continue, nil
}

// cannotRun says why the model cannot run as the Dllama that composes the Model asks;
// empty if it can. The Model's own replicaPower is no reason: it is only the default of
// Dllamas.
func cannotRun(m v1.Model, shape topology.Shape) string {
	runtime, given := preflight.FromAnnotation(m.Annotations)
	if !given {
		return ""
	}
	_, problem := runtime.Plan(shape)
	return problem
}

func (p *plan) unresolved(why reason.Reason, source modelref.Ref, revision, trouble string) {
	p.Fail(why, "Revision %q of %s is not resolved: %s", revision, source, trouble)
}

func tokenSecret(m v1.Model) *xpv2.LocalSecretReference {
	if d := m.Spec.Download; d != nil && d.HuggingFaceTokenSecretRef != nil {
		return &xpv2.LocalSecretReference{Name: strings.TrimSpace(d.HuggingFaceTokenSecretRef.Name)}
	}
	return nil
}

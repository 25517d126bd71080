package model

import (
	"cmp"

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

// revision composes the HubRevision, and refuses a model whose config.json says
// that it cannot be converted. A refusal of the hub comes before what the step
// connections waits for, and that before the commit.
func (p *modelPlan) revision() (compose.Next, error) {
	res := p.resRevision()
	source := p.to.ref
	source.Revision = ""
	want := &v1alpha1.HubRevision{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindHubRevision},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.m.Namespace, Name: names.Object(p.m.Name, resRevision, names.Hash(8, p.to.ref.String()))},
		Spec: v1alpha1.HubRevisionSpec{
			ManagedResourceSpec: managed.Observed(p.via, p.hubSecret()),
			ForProvider: v1alpha1.HubRevisionParameters{
				Source:         source.String(),
				Revision:       cmp.Or(p.to.ref.Revision, "main"),
				TokenSecretRef: p.tokenSecret(),
			},
		},
	}
	if !converts(p.m.Spec) { // their size is that of the files which the Model is for
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
		return compose.Stop, err
	}
	switch {
	case !resolved && found.NotAllowed:
		return p.Deny("spec.sourceUrl: " + found.Refusal), nil
	case !resolved && found.Refusal != "":
		p.unresolved(reason.RevisionUnavailable, source, want.Spec.ForProvider.Revision, found.Refusal)
		return compose.Stop, nil
	case p.pending.Any():
		p.FailIf(p.pending.Reason, p.pending.Message)
		return compose.Stop, nil
	case !resolved:
		_, trouble := managed.Ready(p.Call, res)
		p.unresolved(reason.ResolvingRevision, source, want.Spec.ForProvider.Revision, cmp.Or(trouble, "the hub has not answered yet"))
		return compose.Stop, nil
	}
	p.at, p.status.Commit = p.to.at(found.Commit), found.Commit
	if !converts(p.m.Spec) {
		p.small = p.tooSmall(found.SizeBytes)
		return compose.Continue, nil
	}
	if found.Config == "" {
		return compose.Continue, nil
	}
	shape, err := topology.FromConfig([]byte(found.Config), topology.FloatType(p.weights))
	if err != nil {
		p.Fail(reason.ModelUnsupported, "The model cannot be converted: %v", err)
		return compose.Stop, nil
	}
	p.status.Shape = preflight.StatusOf(shape)
	p.unfit, p.small = p.cannotRun(shape), p.tooSmall(shape.WeightBytes())
	return compose.Continue, nil
}

// cannotRun says why the model cannot run as the Dllama that composes the Model asks;
// empty if it can. The Model's own replicaPower is no reason: it is only the default of
// Dllamas.
func (p *modelPlan) cannotRun(shape topology.Shape) string {
	runtime, given := preflight.FromAnnotation(p.m.Annotations)
	if !given {
		return ""
	}
	_, problem := runtime.Plan(shape)
	return problem
}

func (p *modelPlan) unresolved(why reason.Reason, source modelref.Ref, revision, trouble string) {
	p.Fail(why, "Revision %q of %s is not resolved: %s", revision, source, trouble)
}

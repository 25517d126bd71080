// Package model composes a Model: the revision on the hub, the Jobs that fetch
// and convert it, what they make in the object store, a volume with it when
// one is wanted, and its entry in the registry.
package model

import (
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/modelref"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/topology"
)

// Names of the composed resources. Where a hash is in the name of the object,
// because another one is another thing, it is appended to these too: Crossplane
// keeps the object that it has under a name.
const (
	resRevision  = "revision"
	resQueue     = "queue"
	resSource    = "source"
	resConverted = "converted"
	resFetch     = "fetch"
	resConvert   = "convert"
	resVolume    = "volume"
	resClaim     = "claim"
	resFill      = "fill"
	resRecord    = "record"
)

// Compose answers one call for a Model.
func Compose(c *compose.Call) error {
	var m v1.Model
	if err := c.Composite(&m); err != nil {
		return err
	}
	p := &plan{Call: c, m: m, status: v1.ModelStatus{Status: v1.Status{ObservedGeneration: m.Generation}}}
	c.Legacy(Legacy("spec", m.Spec))
	if err := p.run(); err != nil {
		return err
	}
	return c.SetStatus(&p.status)
}

// A plan is one composition of one Model.
type plan struct {
	*compose.Call
	m      v1.Model
	status v1.ModelStatus

	ref       modelref.Ref
	store     v1.ObjectStorage
	places    places
	via       managed.Via
	commit    string
	weights   string
	source    v1alpha1.ModelArtifactObservation
	converted v1alpha1.ModelArtifactObservation
}

func (p *plan) run() error {
	p.weights, p.store = weightsOf(p.m.Spec.Conversion), storeOf(p.m.Spec)
	if p.m.Spec.PreConverted {
		return p.preConverted()
	}
	if problem := p.locate(); problem != "" {
		p.False(v1.ConditionServing, reason.SourceInvalid, "%s", problem)
		return nil
	}
	for _, step := range []func() (bool, error){p.connect, p.connections, p.files, p.volume} {
		if blocked, err := step(); err != nil || blocked {
			return err
		}
	}
	return p.record(v1alpha1.ModelRecordParameters{ArtifactURL: p.convertedURL()})
}

// locate reads where the model comes from and where it goes.
func (p *plan) locate() (problem string) {
	ref, err := modelref.Parse(p.m.Spec.SourceURL)
	if err != nil {
		return fmt.Sprintf("spec.sourceUrl: %v", err)
	}
	if ref.Scheme != modelref.Hub {
		return fmt.Sprintf("spec.sourceUrl: %q is not a hub's repository: write https://huggingface.co/ORG/REPO", p.m.Spec.SourceURL)
	}
	if p.m.Spec.Revision != "" {
		ref.Revision = p.m.Spec.Revision
	}
	p.ref = ref
	p.places, problem = placesOf(p.m.Spec, p.store)
	return problem
}

func weightsOf(c *v1.Conversion) string {
	switch {
	case c != nil && c.ConvertWeights != "":
		return c.ConvertWeights
	case c != nil && c.WeightsFloatType != "":
		return c.WeightsFloatType
	}
	return string(topology.Q40)
}

// revision composes the HubRevision and judges the model by its config.json.
// Other things that are pending are told first, unless the hub refuses.
func (p *plan) revision(pending string) (blocked bool, err error) {
	hash := names.Hash(8, p.ref.String())
	res := resRevision + "-" + hash
	source := p.ref
	source.Revision = ""
	rev := &v1alpha1.HubRevision{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.KindHubRevision},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.m.Namespace, Name: names.Object(p.m.Name, resRevision, hash)},
		Spec: v1alpha1.HubRevisionSpec{
			ManagedResourceSpec: managed.Spec(p.via, xpv2.ManagementActionObserve),
			ForProvider: v1alpha1.HubRevisionParameters{
				Source:         source.String(),
				Revision:       defaultTo(p.ref.Revision, "main"),
				TokenSecretRef: p.tokenSecret(),
			},
		},
	}
	var seen v1alpha1.HubRevision
	known := p.Observed(res, &seen) && seen.Status.AtProvider.Commit != ""
	if err := p.Desire(res, rev, compose.Readiness(known)); err != nil {
		return false, err
	}
	_, trouble := managed.Ready(p.Call, res)
	why := reason.ResolvingRevision
	switch refusal := seen.Status.AtProvider.Refusal; {
	case !known && refusal != "":
		why, trouble = reason.RevisionUnavailable, refusal
	case pending != "":
		p.False(v1.ConditionServing, reason.ConnectionPending, "%s", pending)
		return true, nil
	}
	if !known {
		p.False(v1.ConditionServing, why, "Revision %q of %s is not resolved: %s", rev.Spec.ForProvider.Revision, source, defaultTo(trouble, "the hub has not answered yet"))
		return true, nil
	}
	p.commit, p.status.Commit = seen.Status.AtProvider.Commit, seen.Status.AtProvider.Commit
	if config := seen.Status.AtProvider.Config; config != "" {
		if _, err := topology.FromConfig([]byte(config), topology.FloatType(p.weights)); err != nil {
			p.False(v1.ConditionServing, reason.ModelUnsupported, "The model cannot be converted: %v", err)
			return true, nil
		}
	}
	return false, nil
}

func defaultTo(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

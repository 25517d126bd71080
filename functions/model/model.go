// Package model composes a Model: the revision on the hub, the Jobs that fetch
// and convert it, what they make in the object store, a volume with it when
// one is wanted, and its entry in the registry.
package model

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	managed "github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/outside"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/modelref"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/topology"
)

// Names of the composed resources.
const (
	resRevision  = "revision"
	resProgress  = "progress"
	resModels    = "models"
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
	via       outside.Via
	commit    string
	weights   string
	source    managed.ModelArtifactObservation
	converted managed.ModelArtifactObservation
}

func (p *plan) run() error {
	p.weights, p.store = weightsOf(p.m.Spec.Conversion), storeOf(p.m.Spec)
	p.status.DownloadJobState, p.status.ConversionJobState = jobPending, jobPending
	if p.m.Spec.PreConverted {
		return p.preConverted()
	}
	if problem := p.locate(); problem != "" {
		p.False(v1.ConditionServing, reason.SourceInvalid, "%s", problem)
		return nil
	}
	for _, step := range []func() (bool, error){p.connect, p.connections, p.revision, p.files, p.volume} {
		if blocked, err := step(); err != nil || blocked {
			return err
		}
	}
	return p.record(managed.ModelRecordParameters{ArtifactURL: p.convertedURL()})
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
func (p *plan) revision() (blocked bool, err error) {
	name := names.Object(p.m.Name, "revision", names.Hash(8, p.ref.String()))
	source := p.ref
	source.Revision = ""
	rev := &managed.HubRevision{
		TypeMeta:   metav1.TypeMeta{APIVersion: managed.APIVersion, Kind: managed.KindHubRevision},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.m.Namespace, Name: name},
		Spec: managed.HubRevisionSpec{
			ManagedResourceSpec: outside.Managed(p.via),
			ForProvider: managed.HubRevisionParameters{
				Source:         source.String(),
				Revision:       defaultTo(p.ref.Revision, "main"),
				TokenSecretRef: p.tokenSecret(),
			},
		},
	}
	var seen managed.HubRevision
	known := p.Observed(resRevision, &seen) && seen.Name == name && seen.Status.AtProvider.Commit != ""
	if err := p.Desire(resRevision, rev, compose.Readiness(known)); err != nil {
		return false, err
	}
	if !known {
		_, message := outside.Ready(p.Call, resRevision)
		why := reason.ResolvingRevision
		if refusal := seen.Status.AtProvider.Refusal; refusal != "" {
			why, message = reason.RevisionUnavailable, refusal
		}
		p.False(v1.ConditionServing, why, "Revision %q of %s is not resolved: %s", rev.Spec.ForProvider.Revision, source, message)
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

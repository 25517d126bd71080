// Package model composes a Model: the revision on the hub, the Jobs that fetch
// and convert it, what they make in the object store, and its entry in the
// registry.
package model

import (
	"fmt"
	"path"
	"strings"

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

// DefaultBucket keeps the files of Models that name no bucket.
const DefaultBucket = "koldun-models"

// Names of the composed resources.
const (
	resRevision  = "revision"
	resProgress  = "progress"
	resModels    = "models"
	resSource    = "source"
	resConverted = "converted"
	resFetch     = "fetch"
	resConvert   = "convert"
	resRecord    = "record"
)

// Compose answers one call for a Model.
func Compose(c *compose.Call) error {
	var m v1.Model
	if err := c.Composite(&m); err != nil {
		return err
	}
	p := &plan{Call: c, m: m, status: v1.ModelStatus{Status: v1.Status{ObservedGeneration: m.Generation}}}
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
	commit    string
	weights   string
	source    managed.ModelArtifactObservation
	converted managed.ModelArtifactObservation
}

func (p *plan) run() error {
	ref, err := modelref.Parse(p.m.Spec.SourceURL)
	if err != nil {
		p.False(v1.ConditionServing, reason.SourceInvalid, "spec.sourceUrl: %v", err)
		return nil
	}
	if ref.Scheme != modelref.Hub {
		p.False(v1.ConditionServing, reason.SourceInvalid, "spec.sourceUrl: %q is not a hub's repository: write https://huggingface.co/ORG/REPO", p.m.Spec.SourceURL)
		return nil
	}
	if p.m.Spec.Revision != "" {
		ref.Revision = p.m.Spec.Revision
	}
	p.ref, p.weights = ref, weightsOf(p.m.Spec.Conversion)
	if blocked, err := p.connections(); err != nil || blocked {
		return err
	}
	if blocked, err := p.revision(); err != nil || blocked {
		return err
	}
	if blocked, err := p.files(); err != nil || blocked {
		return err
	}
	return p.record()
}

func weightsOf(c *v1.Conversion) string {
	if c == nil || c.WeightsFloatType == "" {
		return string(topology.Q40)
	}
	return c.WeightsFloatType
}

// connections composes what the Jobs need before they can start. The Secrets
// with the connections are named after the Model.
func (p *plan) connections() (blocked bool, err error) {
	ns, name := p.m.Namespace, p.m.Name
	desired := map[string]any{
		resProgress: outside.KeyValue(ns, names.Object(name, "model", "progress"), names.ProgressBucket, p.busSecret(), 0),
		resModels:   outside.KeyValue(ns, names.Object(name, "model", "models"), names.ModelsBucket, "", 0),
	}
	order := []string{resProgress, resModels}
	for i, bucket := range p.buckets() {
		res := fmt.Sprintf("bucket-%d", i)
		secret := ""
		if i == 0 {
			secret = p.storeSecret()
		}
		desired[res] = outside.Bucket(ns, names.Object(name, "bucket", names.Hash(8, bucket)), bucket, secret)
		order = append(order, res)
	}
	for _, res := range order {
		ready, message := outside.Ready(p.Call, res)
		if err := p.Desire(res, desired[res], ready); err != nil {
			return false, err
		}
		if !bool(ready) && !blocked {
			blocked = true
			p.False(v1.ConditionServing, reason.ConnectionPending, "Composed resource %q is not ready: %s", res, message)
		}
	}
	return blocked, nil
}

// buckets lists the distinct buckets of the Model.
func (p *plan) buckets() []string {
	out := []string{p.sourceBucket()}
	if b := p.convertBucket(); b != out[0] {
		out = append(out, b)
	}
	return out
}

func (p *plan) sourceBucket() string {
	if s := p.m.Spec.ObjectStorage; s != nil && s.BucketForSource != "" {
		return s.BucketForSource
	}
	return DefaultBucket
}

func (p *plan) convertBucket() string {
	if s := p.m.Spec.ObjectStorage; s != nil && s.BucketForConvert != "" {
		return s.BucketForConvert
	}
	return p.sourceBucket()
}

func (p *plan) storeSecret() string { return names.Object(p.m.Name, "model", "s3") }
func (p *plan) busSecret() string   { return names.Object(p.m.Name, "model", "nats") }

// revision composes the HubRevision and judges the model by its config.json.
func (p *plan) revision() (blocked bool, err error) {
	name := names.Object(p.m.Name, "revision", names.Hash(8, p.ref.String()))
	source := p.ref
	source.Revision = ""
	rev := &managed.HubRevision{
		TypeMeta:   metav1.TypeMeta{APIVersion: managed.APIVersion, Kind: managed.KindHubRevision},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.m.Namespace, Name: name},
		Spec: managed.HubRevisionSpec{ForProvider: managed.HubRevisionParameters{
			Source:         source.String(),
			Revision:       defaultTo(p.ref.Revision, "main"),
			TokenSecretRef: p.tokenSecret(),
		}},
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

// sourceURL and convertedURL are content-addressed: another commit or type of
// weights is another folder, and nothing else is.
func (p *plan) sourceURL() string {
	return "s3://" + path.Join(p.sourceBucket(), "source", p.ref.Repo, p.commit)
}

func (p *plan) convertedURL() string {
	return "s3://" + path.Join(p.convertBucket(), "converted", p.ref.Repo, p.commit, p.weights)
}

// artifactName is the name in the file names: the repository's, so that Models
// of the same source share files.
func (p *plan) artifactName() string {
	return names.Join(48, strings.ReplaceAll(strings.ReplaceAll(path.Base(p.ref.Repo), ".", "-"), "_", "-"))
}

func defaultTo(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// Package modeldownload composes a ModelDownload: for each model the revision on
// the hub, and the Job that downloads it to a folder of an existing volume.
package modeldownload

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
)

// Names of the composed resources, followed by hashes.
const (
	resRevision = "revision"
	resDownload = "download"
	resGuard    = "guard"
)

// Required objects are not watched by every version of Crossplane: the answer
// holds for these times only.
const (
	retryMissing = 10 * time.Second // while a volume or token is missing
	retryPending = 20 * time.Second // while a model is neither complete nor failed
)

// Compose answers one call for a ModelDownload.
func Compose(c *compose.Call) error {
	var d v1.ModelDownload
	if err := c.Composite(&d); err != nil {
		return err
	}
	c.Legacy(workload.Withheld("spec.env", d.Spec.Env))
	p := &downloadPlan{
		Plan:   compose.Plan{Call: c},
		d:      d,
		status: v1.ModelDownloadStatus{Status: v1.Status{ObservedGeneration: d.Generation}},
	}
	if err := p.Run(p.volume, p.token, p.writers, p.reload, p.watch, p.models, p.report); err != nil {
		return err
	}
	return c.Finish(&p.status)
}

// A downloadPlan is one composition of one ModelDownload.
type downloadPlan struct {
	compose.Plan
	d      v1.ModelDownload
	status v1.ModelDownloadStatus

	// blocked is what no Job can start without; nil if nothing is missing. Jobs that
	// run already, and complete models, stay.
	blocked *blocked
	// Set by the step volume: a volume of the same name with another id is empty.
	volumeID string
	// Set by the step token.
	tokenDigest string
	// Set by the step writers: all Jobs of the namespace that download to volumes, and
	// how many of those of this object run.
	others  []*batchv1.Job
	running int
	// Set by the step reload: the request to download again; empty for none.
	nonce string
	// Set by the step watch: what keeps a pod of a Job from running, and how far they are.
	pods managed.Pods
}

type blocked struct {
	reason  reason.Reason
	message string
}

// block records the first thing that is missing.
func (p *downloadPlan) block(why reason.Reason, message string) {
	if p.blocked == nil {
		p.blocked = &blocked{why, message}
	}
}

// models composes each model. One that fails does not stop the others.
func (p *downloadPlan) models() (compose.Next, error) {
	for _, m := range p.d.Spec.Models {
		state, err := p.model(m)
		if err != nil {
			return compose.Stop, err
		}
		p.status.Models = append(p.status.Models, state)
	}
	return compose.Continue, nil
}

// before returns the state of a model in the observed status.
func (p *downloadPlan) before(name string) v1.DownloadedModel {
	i := slices.IndexFunc(p.d.Status.Models, func(m v1.DownloadedModel) bool { return m.Name == name })
	if i < 0 {
		return v1.DownloadedModel{Name: name}
	}
	return p.d.Status.Models[i]
}

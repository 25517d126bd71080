// Package modeldownload composes a ModelDownload: for each model the revision on
// the hub, and the Job that downloads it to a folder of an existing volume.
package modeldownload

import (
	"cmp"
	"fmt"
	"slices"
	"time"

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
	if err := p.compose(); err != nil {
		return err
	}
	return c.Finish(&p.status)
}

// A downloadPlan is one composition of one ModelDownload.
type downloadPlan struct {
	compose.Plan
	d      v1.ModelDownload
	status v1.ModelDownloadStatus
}

// inputs are what the models have in common.
type inputs struct {
	// blocked is what no Job can start without; nil if nothing is missing. Jobs that
	// run already, and complete models, stay.
	blocked     *blocked
	volumeID    string // a volume of the same name with another id is empty
	tokenDigest string
	jobs        *jobs
	nonce       string       // the request to download again; empty for none
	pods        managed.Pods // what keeps a pod of a Job from running, and how far they are
}

type blocked struct {
	reason  reason.Reason
	message string
}

func blockedBy(why reason.Reason, format string, args ...any) *blocked {
	return &blocked{why, fmt.Sprintf(format, args...)}
}

// compose composes each model. One that fails does not stop the others.
func (p *downloadPlan) compose() (err error) {
	if p.Allow(p.d.Namespace) == compose.Stop {
		return nil
	}
	var in inputs
	var noVolume, noToken, noJobs *blocked
	in.volumeID, noVolume = p.volume()
	in.tokenDigest, noToken = p.token()
	in.jobs, noJobs = p.writers()
	in.blocked = cmp.Or(noVolume, noToken, noJobs)
	in.nonce = p.reload(in.tokenDigest)
	if in.pods, err = p.watch(); err != nil {
		return err
	}
	for _, m := range p.d.Spec.Models {
		state, err := download{p, m, in}.compose()
		if err != nil {
			return err
		}
		p.status.Models = append(p.status.Models, state)
	}
	p.report(in)
	return nil
}

// before returns the state of a model in the observed status.
func (p *downloadPlan) before(name string) v1.DownloadedModel {
	i := slices.IndexFunc(p.d.Status.Models, func(m v1.DownloadedModel) bool { return m.Name == name })
	if i < 0 {
		return v1.DownloadedModel{Name: name}
	}
	return p.d.Status.Models[i]
}

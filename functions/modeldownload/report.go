package modeldownload

import (
	"fmt"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/bytesize"
)

// report derives the lists of the status and the condition from the models.
func (p *downloadPlan) report() (compose.Next, error) {
	var done, all int64
	sized := true
	var waiting, failed *v1.DownloadedModel
	for i := range p.status.Models {
		m := &p.status.Models[i]
		all += m.Bytes
		sized = sized && m.Commit != ""
		switch m.Phase {
		case v1.DownloadCompleted:
			done += m.Bytes
			p.status.Completed = append(p.status.Completed, m.Name)
		case v1.DownloadFailed:
			p.status.Failed = append(p.status.Failed, m.Name)
			failed = first(failed, m)
		default:
			p.status.Pending = append(p.status.Pending, m.Name)
			waiting = first(waiting, m)
			if p.problem.Message != "" && m.Message == p.problem.Message {
				waiting = m
			}
		}
	}
	p.status.FailedCount = int32(len(p.status.Failed))
	p.status.Summary = fmt.Sprintf("%d/%d", len(p.status.Completed), len(p.status.Models))
	if sized && all > 0 {
		p.status.Progress = fmt.Sprintf("%d%%", done*100/all)
	}
	p.condition(waiting, failed, done)
	return compose.Continue, nil
}

// condition is false for a pending model before a failed one: as long as one is
// pending, waiting changes something.
func (p *downloadPlan) condition(waiting, failed *v1.DownloadedModel, done int64) {
	summary := p.status.Summary + " models are complete"
	if len(p.status.Failed) > 0 {
		summary += ", failed: " + strings.Join(p.status.Failed, ", ")
	}
	switch {
	case p.blocked != nil && (waiting != nil || failed != nil):
		p.Within(retryMissing)
		p.Fail(p.blocked.reason, "%s; %s", p.blocked.message, summary)
	case waiting != nil:
		p.Within(retryPending)
		p.Fail(reason.Reason(waiting.Reason), "Model %q: %s; %s", waiting.Name, waiting.Message, summary)
	case failed != nil:
		p.Fail(reason.Reason(failed.Reason), "Model %q: %s; %s", failed.Name, failed.Message, summary)
	default:
		p.Serve(reason.Available, "%s, %s on PersistentVolumeClaim %q", summary, bytesize.Format(done), p.d.Spec.StoragePVC)
	}
}

func first(a, b *v1.DownloadedModel) *v1.DownloadedModel {
	if a != nil {
		return a
	}
	return b
}

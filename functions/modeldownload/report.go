package modeldownload

import (
	"fmt"
	"strings"
	"time"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/bytesize"
	"github.com/gorizond/koldun/internal/model/progress"
)

// report derives the lists of the status and the condition from the models.
func (p *downloadPlan) report(in inputs) {
	var done, arrived, all int64
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
			arrived += min(m.DoneBytes, m.Bytes)
			p.status.Pending = append(p.status.Pending, m.Name)
			waiting = first(waiting, m)
			if in.pods.Message != "" && m.Message == in.pods.Message {
				waiting = m
			}
		}
	}
	p.status.FailedCount = int32(len(p.status.Failed))
	p.status.Summary = fmt.Sprintf("%d/%d", len(p.status.Completed), len(p.status.Models))
	if sized && all > 0 {
		p.status.Progress = fmt.Sprintf("%d%%", (done+arrived)*100/all)
	}
	p.status.ETA = eta(p.status.Models)
	p.condition(in.blocked, waiting, failed, done)
}

// eta returns the time until all Jobs end; empty if it is not known of one model.
func eta(models []v1.DownloadedModel) string {
	var most int64
	for _, m := range models {
		if m.Phase == v1.DownloadCompleted || m.Phase == v1.DownloadFailed {
			continue
		}
		if m.ETASeconds == 0 {
			return ""
		}
		most = max(most, m.ETASeconds)
	}
	return progress.Left(time.Duration(most) * time.Second)
}

// condition is false for a pending model before a failed one: as long as one is
// pending, waiting changes something.
func (p *downloadPlan) condition(missing *blocked, waiting, failed *v1.DownloadedModel, done int64) {
	summary := p.status.Summary + " models are complete"
	if len(p.status.Failed) > 0 {
		summary += ", failed: " + strings.Join(p.status.Failed, ", ")
	}
	switch {
	case missing != nil && (waiting != nil || failed != nil):
		p.Within(retryMissing)
		p.Fail(missing.reason, "%s; %s", missing.message, summary)
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

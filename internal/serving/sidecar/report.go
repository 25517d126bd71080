package sidecar

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

const (
	reportTry      = 2 * time.Second // limit of one attempt
	reportPauseMin = 50 * time.Millisecond
	reportPauseMax = 2 * time.Second
)

// report reports each end to the leader until the leader acknowledges it. An
// acknowledgement means that the outcome is stored, so ends are reported
// concurrently, at most queue.MaxEnds.
func (r *runner) report(ctx context.Context) {
	var tellers sync.WaitGroup
	defer tellers.Wait()
	ready := make(chan *queue.AttemptEnd) // to an idle teller
	teller := func(e *queue.AttemptEnd) {
		for {
			r.tellUntilHeard(ctx, e)
			select {
			case <-ctx.Done():
				return
			case e = <-ready:
			}
		}
	}
	told := map[*queue.AttemptEnd]bool{} // ends that have a teller
	for {
		r.mu.Lock()
		ends := slices.Clone(r.ends)
		r.mu.Unlock()
		now := make(map[*queue.AttemptEnd]bool, len(ends))
		for _, e := range ends {
			if !told[e] {
				select {
				case ready <- e:
				default:
					tellers.Go(func() { teller(e) })
				}
			}
			now[e] = true
		}
		told = now
		select {
		case <-ctx.Done():
			return
		case <-r.toReport:
		}
	}
}

func (r *runner) tellUntilHeard(ctx context.Context, e *queue.AttemptEnd) {
	for pause := reportPauseMin; !r.tell(ctx, e); pause = min(2*pause, reportPauseMax) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// tell makes one attempt, and reports whether the leader acknowledged the end.
func (r *runner) tell(ctx context.Context, e *queue.AttemptEnd) bool {
	ctx, cancel := context.WithTimeout(ctx, reportTry)
	defer cancel()
	r.mu.Lock()
	report := queue.EndReport{AttemptEnd: *e, Status: r.status()}
	r.mu.Unlock()
	ack, err := bus.Call[queue.Ack](ctx, r.cfg.Bus, names.EndSubject(r.cfg.Session), &report)
	if err != nil || !ack.OK {
		r.cfg.Logger.Debug("the end of an attempt is not acknowledged yet", "request", e.Request, "error", err)
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ends = slices.DeleteFunc(r.ends, func(other *queue.AttemptEnd) bool { return other == e })
	if len(r.ends) == 0 {
		r.ends = nil
		close(r.reported)
	}
	r.changedByRequest()
	return true
}

// unreported returns the unacknowledged ends. The caller holds mu.
func (r *runner) unreported() []queue.AttemptEnd {
	var out []queue.AttemptEnd
	for _, e := range r.ends {
		out = append(out, *e)
	}
	return out
}

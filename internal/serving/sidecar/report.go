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

// A reporter reports the ends in its runner's outbox. It has no state of its own.
type reporter struct{ r *runner }

// report reports each end to the leader until the leader acknowledges it. An
// acknowledgement means that the outcome is stored, so ends are reported
// concurrently, at most queue.MaxEnds.
func (p reporter) report(ctx context.Context) {
	var tellers sync.WaitGroup
	defer tellers.Wait()
	ready := make(chan *queue.AttemptEnd) // to an idle teller
	teller := func(e *queue.AttemptEnd) {
		for {
			p.tellUntilHeard(ctx, e)
			select {
			case <-ctx.Done():
				return
			case e = <-ready:
			}
		}
	}
	told := map[*queue.AttemptEnd]bool{} // ends that have a teller
	for {
		p.r.mu.Lock()
		ends := slices.Clone(p.r.outbox.ends)
		p.r.mu.Unlock()
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
		case <-p.r.outbox.added:
		}
	}
}

func (p reporter) tellUntilHeard(ctx context.Context, e *queue.AttemptEnd) {
	for pause := reportPauseMin; !p.tell(ctx, e); pause = min(2*pause, reportPauseMax) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// tell makes one attempt, and reports whether the leader acknowledged the end.
func (p reporter) tell(ctx context.Context, e *queue.AttemptEnd) bool {
	ctx, cancel := context.WithTimeout(ctx, reportTry)
	defer cancel()
	p.r.mu.Lock()
	report := queue.EndReport{AttemptEnd: *e, Status: p.r.status()}
	p.r.mu.Unlock()
	ack, err := bus.Call[queue.Ack](ctx, p.r.cfg.Bus, names.EndSubject(p.r.cfg.Session), &report)
	if err != nil || !ack.OK {
		p.r.cfg.Logger.Debug("the end of an attempt is not acknowledged yet", "request", e.Request, "error", err)
		return false
	}
	p.r.mu.Lock()
	defer p.r.mu.Unlock()
	p.r.outbox.remove(e)
	p.r.changedByRequest()
	return true
}

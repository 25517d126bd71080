package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// refusal returns what a busy server has said, if the runners of all servers are refused for
// now. It returns nil if one of the runners serves, or starts for another reason, which may
// end at any time.
func (p *peers) refusal() *queue.Failure {
	var said *queue.Failure
	for _, of := range p.byName {
		switch {
		case of.absent, of.rec.State == queue.RunnerDraining:
		case of.serves(), of.rec.Refusal == nil:
			return nil
		case said == nil || of.rec.Refusal.RetryAfter < said.RetryAfter: // who takes requests first
			said = of.rec.Refusal
		}
	}
	return said
}

// endRefused ends the jobs that have waited too long for servers that all refuse requests for
// now. Those that were given to a runner since have a limit of their own.
func (l *ledger) endRefused(now time.Time) {
	said := l.peers.refusal()
	if said == nil {
		l.refusedSince = time.Time{}
		return
	}
	if l.refusedSince.IsZero() {
		l.refusedSince = now
	}
	for _, j := range l.jobs {
		if j.phase != queued {
			continue
		}
		since := l.refusedSince
		if j.req.Created.After(since) {
			since = j.req.Created
		}
		end := since.Add(l.cfg.ServerPatience)
		if !now.Before(end) || now.Add(time.Duration(said.RetryAfter)*time.Second).After(end) {
			l.finish(j, queue.Failed, said, nil)
		}
	}
}

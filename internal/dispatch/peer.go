package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/dispatch/policy"
	"github.com/gorizond/koldun/internal/queue"
)

// A peer is a runner as the leader sees it.
type peer struct {
	rec     queue.Runner
	synced  bool      // it has told this leader, in this epoch, what it holds
	syncing bool      // it is being asked
	gone    bool      // its record is: unless it answers, it is lost
	seq     uint64    // counts what the leader has said to it
	job     string    // id of the request that it has or may have
	blocked time.Time // no work is offered before
}

// hear takes over what a runner says of itself beside its record, unless that
// is older than what is known.
func (p *peer) hear(s queue.RunnerStatus) {
	if s.Instance != p.rec.Instance || s.Version < p.rec.Version {
		return
	}
	p.rec.Version, p.rec.State, p.rec.Affinity = s.Version, s.State, s.Affinity
}

// usable says how policy sees the peer; ok is false if it can get no work.
func (p *peer) usable(now time.Time, jobAffinity string) (r policy.Runner, ok bool) {
	if !p.synced || p.gone || p.rec.State != queue.RunnerIdle && p.rec.State != queue.RunnerBusy {
		return policy.Runner{}, false
	}
	r = policy.Runner{Name: p.rec.Name, Affinity: p.rec.Affinity}
	if p.job != "" {
		r.Affinity = jobAffinity
	}
	r.Idle = p.rec.State == queue.RunnerIdle && p.job == "" && !now.Before(p.blocked)
	return r, true
}

// holds finds an attempt in what the peer says it holds.
func holds(rec queue.Runner, j *job) (queue.HeldAttempt, bool) {
	for _, h := range rec.Held {
		if h.Request.ID == j.req.ID && h.Epoch == j.epoch && h.Attempt == j.attempt {
			return h, true
		}
	}
	return queue.HeldAttempt{}, false
}

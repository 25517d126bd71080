package dispatch

import (
	"context"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

const (
	syncTry   = time.Second            // limit of one sync
	syncPause = 300 * time.Millisecond // pause before the next sync
	// reconnectGrace is the time for clients of NATS to reconnect, at most two
	// seconds apart, and to announce themselves.
	reconnectGrace = 4 * time.Second
)

// runnersReturned reports whether runners have had the time to return after a loss
// of the connection.
func (r *roster) runnersReturned(now time.Time) bool {
	return now.Sub(r.cfg.Bus.Returned()) >= reconnectGrace
}

// sync requests the attempts of a runner. From its answer on, the runner obeys only
// this leader.
func (r *roster) sync(name string, p *peer) {
	p.syncing = true
	p.seq++
	question := queue.Sync{Epoch: r.epoch, Seq: p.seq, Instance: p.rec.Instance}
	var answer queue.SyncReply
	r.call(func(ctx context.Context) (err error) {
		ctx, cancel := context.WithTimeout(ctx, syncTry)
		defer cancel()
		answer, err = bus.Call[queue.SyncReply](ctx, r.cfg.Bus, names.SyncSubject(r.session, name), question)
		return err
	}, func(err error) {
		if r.peers.byName[name] != p {
			return
		}
		p.syncing = false
		switch {
		case err != nil && p.absent && r.runnersReturned(time.Now()):
			r.removePeer(name, p, "its runner vanished")
		case err != nil:
			r.log.Debug("a runner does not answer", "runner", name, "error", err)
			p.blocked = time.Now().Add(syncPause)
		case answer.Epoch > question.Epoch:
			r.newerEpoch(answer.Epoch)
			p.blocked = time.Now().Add(syncPause)
		case question.Epoch == r.epoch:
			r.synced(name, p, answer.Runner)
		}
	})
}

// synced adopts the attempts of a runner.
func (r *roster) synced(name string, p *peer, rec queue.Runner) {
	rec.Name = name
	if rec.Instance != p.rec.Instance {
		r.removePeer(name, p, "its runner was restarted")
		p = newPeer(rec)
		r.peers.byName[name] = p
	}
	p.synced = true
	for _, s := range slices.Clone(p.slots) {
		if j := r.ledger.jobs[s.job]; s.job != "" && (j == nil || j.phase != assigning) {
			p.drop(s.job)
		}
	}
	for _, h := range rec.Held {
		r.adopt(name, p, h)
	}
	r.update(p, rec) // handles its ends
	for _, j := range r.ledger.jobs {
		if j.runner != name || j.instance != rec.Instance || p.has(j.req.ID) {
			continue
		}
		switch {
		case j.phase == uncertain: // the runner never got the job
			r.ledger.requeue(j)
		case j.phase == running && rec.Version >= j.version:
			r.ledger.attemptLost(j, "its runner dropped it")
		}
	}
}

// setEpoch starts a new epoch while the lease is held, and syncs with all runners.
func (r *roster) setEpoch(epoch uint64) {
	if epoch == r.epoch {
		return
	}
	r.log.Warn("leading by a newer epoch", "new", epoch)
	r.epoch = epoch
	for _, p := range r.peers.byName {
		p.synced, p.seq = false, 0
		r.peers.offer(p)
	}
}

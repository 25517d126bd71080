package sidecar

import (
	"slices"
	"sync"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// subscribe listens to the dispatcher, to clients that cancel or have lost frames, and for
// the announcer. The returned function ends it and may be called more than once.
func (r *runner) subscribe(a *announcer) (func(), error) {
	var stops []func()
	stopAll := sync.OnceFunc(func() {
		for _, stop := range stops {
			stop()
		}
	})
	add := func(stop func(), err error) error {
		if err != nil {
			stopAll()
			return err
		}
		stops = append(stops, stop)
		return nil
	}
	b, session, name := r.cfg.Bus, r.cfg.Session, r.cfg.Runner
	if err := add(bus.Serve(b, names.SyncSubject(session, name), r.onSync)); err != nil {
		return nil, err
	}
	if err := add(bus.Serve(b, names.AssignSubject(session, name), r.onAssign)); err != nil {
		return nil, err
	}
	if err := add(bus.Serve(b, names.DrainSubject(session, name), r.onDrain)); err != nil {
		return nil, err
	}
	if err := add(bus.Serve(b, names.CancelSubject(session, "*"), r.onCancel)); err != nil {
		return nil, err
	}
	if err := add(bus.Serve(b, names.ResumeSubject(session, "*"), r.onResume)); err != nil {
		return nil, err
	}
	if err := add(a.listen()); err != nil {
		return nil, err
	}
	return stopAll, nil
}

// onSync answers a leader with the runner's attempts.
func (r *runner) onSync(_ string, s queue.Sync) (queue.SyncReply, bool) {
	if s.Instance != "" && s.Instance != r.instance {
		return queue.SyncReply{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fence.pass(s.Epoch, s.Seq) {
		r.fence.synced = true
	}
	return queue.SyncReply{Runner: r.record(), Epoch: r.fence.epoch}, true
}

// onAssign accepts or refuses an attempt. It has a slot from here on.
func (r *runner) onAssign(_ string, as queue.Assignment) (queue.AssignmentReply, bool) {
	if as.Instance != "" && as.Instance != r.instance {
		return queue.AssignmentReply{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	reason := r.refusal(as)
	if reason == "" {
		r.begin(as)
	}
	return queue.AssignmentReply{Accepted: reason == "", Reason: reason, Epoch: r.fence.epoch, RunnerStatus: r.status()}, true
}

// refusal is called with mu held.
func (r *runner) refusal(as queue.Assignment) string {
	switch {
	case !r.fence.pass(as.Epoch, as.Seq):
		return queue.RefusedStale
	case !r.fence.synced:
		return queue.RefusedUnsynced
	case r.draining, r.drainOrdered:
		return queue.RefusedDraining
	case r.slots.busy() >= r.slots.all, len(r.outbox.ends)+len(r.slots.running) >= queue.MaxEnds:
		return queue.RefusedBusy
	case !r.engine.ready:
		return queue.RefusedNotReady
	}
	return ""
}

// onDrain refuses assignments, or accepts them again. Running attempts continue.
func (r *runner) onDrain(_ string, order queue.DrainOrder) (queue.Runner, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.drainOrdered != order.Drain {
		r.drainOrdered = order.Drain
		r.changed()
	}
	return r.record(), true
}

// onCancel cancels a request that this runner holds, and acknowledges it.
func (r *runner) onCancel(subject string, order queue.CancelOrder) (queue.Ack, bool) {
	r.mu.Lock()
	i := slices.IndexFunc(r.slots.running, func(a *attempt) bool {
		return subject == names.CancelSubject(r.cfg.Session, a.assignment.Request.ID)
	})
	if i < 0 {
		r.mu.Unlock()
		return queue.Ack{}, false
	}
	a := r.slots.running[i]
	r.mu.Unlock()
	if order.Tenant != "" && order.Tenant != a.assignment.Request.Tenant {
		return queue.Ack{}, false // the leader answers
	}
	a.cancel(errCancelled)
	return queue.Ack{OK: true}, true
}

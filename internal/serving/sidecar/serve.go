package sidecar

import (
	"slices"
	"strings"
	"sync"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// A server answers leaders, and clients that cancel or have lost frames. The runner's mutex
// guards the fence: a message that passes it takes effect before a later one passes.
type server struct {
	r        *runner
	executor *executor
	fence    fence
}

// subscribe listens to the dispatcher, to clients that cancel or have lost frames, and for
// the announcer. The returned function ends it and may be called more than once.
func (s *server) subscribe(a *announcer) (func(), error) {
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
	b, session, name := s.r.cfg.Bus, s.r.cfg.Session, s.r.cfg.Runner
	if err := add(bus.Serve(b, names.SyncSubject(session, name), s.onSync)); err != nil {
		return nil, err
	}
	if err := add(bus.Serve(b, names.AssignSubject(session, name), s.onAssign)); err != nil {
		return nil, err
	}
	if err := add(bus.Serve(b, names.DrainSubject(session, name), s.onDrain)); err != nil {
		return nil, err
	}
	if err := add(bus.Serve(b, names.CancelSubject(session, "*"), s.onCancel)); err != nil {
		return nil, err
	}
	if err := add(bus.Serve(b, names.ResumeSubject(session, "*"), s.onResume)); err != nil {
		return nil, err
	}
	if err := add(a.listen()); err != nil {
		return nil, err
	}
	return stopAll, nil
}

// onSync answers a leader with the runner's attempts.
func (s *server) onSync(_ string, from queue.Sync) (queue.SyncReply, bool) {
	if from.Instance != "" && from.Instance != s.r.instance {
		return queue.SyncReply{}, false
	}
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.fence.pass(from.Epoch, from.Seq) {
		s.fence.synced = true
	}
	return queue.SyncReply{Runner: s.r.record(), Epoch: s.fence.epoch}, true
}

// onAssign accepts or refuses an attempt. It has a slot from here on.
func (s *server) onAssign(_ string, as queue.Assignment) (queue.AssignmentReply, bool) {
	if as.Instance != "" && as.Instance != s.r.instance {
		return queue.AssignmentReply{}, false
	}
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	reason := s.refusal(as)
	if reason == "" {
		s.executor.begin(as)
	}
	return queue.AssignmentReply{Accepted: reason == "", Reason: reason, Epoch: s.fence.epoch, RunnerStatus: s.r.status()}, true
}

// refusal is called with the runner's mu held.
func (s *server) refusal(as queue.Assignment) string {
	switch {
	case !s.fence.pass(as.Epoch, as.Seq):
		return queue.RefusedStale
	case !s.fence.synced:
		return queue.RefusedUnsynced
	case s.r.draining, s.r.drainOrdered:
		return queue.RefusedDraining
	case s.r.slots.busy() >= s.r.slots.all, len(s.r.outbox.ends)+len(s.r.slots.running) >= queue.MaxEnds:
		return queue.RefusedBusy
	case !s.r.engine.ready:
		return queue.RefusedNotReady
	}
	return ""
}

// onDrain refuses assignments, or accepts them again. Running attempts continue.
func (s *server) onDrain(_ string, order queue.DrainOrder) (queue.Runner, bool) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.r.drainOrdered != order.Drain {
		s.r.drainOrdered = order.Drain
		s.r.changed()
	}
	return s.r.record(), true
}

// onCancel cancels a request that this runner holds, and acknowledges it.
func (s *server) onCancel(subject string, order queue.CancelOrder) (queue.Ack, bool) {
	s.r.mu.Lock()
	i := slices.IndexFunc(s.r.slots.running, func(a *attempt) bool {
		return subject == names.CancelSubject(s.r.cfg.Session, a.assignment.Request.ID)
	})
	if i < 0 {
		s.r.mu.Unlock()
		return queue.Ack{}, false
	}
	a := s.r.slots.running[i]
	s.r.mu.Unlock()
	if order.Tenant != "" && order.Tenant != a.assignment.Request.Tenant {
		return queue.Ack{}, false // the leader answers
	}
	a.cancel(errCancelled)
	return queue.Ack{OK: true}, true
}

// onResume sends the frames of a request again if this runner has them. All runners of
// the session receive such messages, which are rare: a subscription for each request
// would cost every request more.
func (s *server) onResume(subject string, from queue.Resume) (struct{}, bool) {
	id := strings.TrimPrefix(subject, names.ResumeSubject(s.r.cfg.Session, ""))
	for _, l := range s.executor.logs.of(id) {
		l.resend(from)
	}
	return struct{}{}, false
}

package dispatch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// run leads sessions until ctx ends.
func (m *manager) run(ctx context.Context) {
	m.mu.Lock()
	m.start = func(s *session) {
		if ctx.Err() == nil {
			s.running = true
			m.loops.Go(func() { m.lead(ctx, s) })
		}
	}
	m.mu.Unlock()
	var watches sync.WaitGroup
	watches.Go(func() { bus.Watch(ctx, m.cfg.Bus, names.LeasesBucket, ">", m.onLease) })
	watches.Go(func() { bus.Watch(ctx, m.cfg.Bus, names.RunnersBucket, ">", m.onRunner) })
	watches.Go(func() { bus.Watch(ctx, m.cfg.Bus, names.ModelsBucket, ">", m.models.observe) })
	watches.Go(func() { m.keepStreams(ctx) })
	watches.Go(func() { m.requests.Sessions(ctx, m.onOpen) })
	watches.Wait()
	m.loops.Wait()
}

// lead leads a session, or waits to, until it is idle or ctx ends.
func (m *manager) lead(ctx context.Context, s *session) {
	log := m.cfg.Logger.With("session", s.name)
	for {
		t := m.standBy(ctx, s)
		if t == nil {
			return
		}
		log.Info("leading", "epoch", t.lease.Epoch)
		m.metrics.leading.Inc()
		err := lead(ctx, m.process, s, t)
		m.metrics.leading.Dec()
		log.Info("no longer leading", "epoch", t.lease.Epoch, "reason", err)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, errIdle) && m.removeUnlessWanted(s) {
			return
		}
	}
}

// standBy blocks until this process holds the session's lease. It returns nil when
// ctx ends or when the session needs no leader.
func (m *manager) standBy(ctx context.Context, s *session) *heldLease {
	pause := time.Duration(0)
	for {
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-s.leaseNews:
		case <-timer.C:
		}
		timer.Stop()
		pause = m.cfg.LeaseTTL
		if !m.isSynced() {
			continue
		}
		var old *observedLease
		if seen, ok := m.observedLease(s.name); ok {
			if left := seen.left(m.cfg.LeaseTTL, time.Now()); left > 0 {
				s.wanted.Store(false)
				pause = left
				continue
			}
			old = &seen
		} else if !s.hasRunners() && m.removeUnlessWanted(s) {
			return nil // its leader found it idle, and it has not changed since
		}
		t, err := m.acquire(ctx, s.name, old)
		if err == nil {
			return t
		}
		pause = retryAfter(m.cfg.LeaseTTL)
		if !fault.Is(err, fault.Conflict) && ctx.Err() == nil {
			m.cfg.Logger.Debug("cannot acquire a lease yet", "session", s.name, "error", err)
		}
	}
}

// acquire takes the lease of a session; see process.acquire.
func (m *manager) acquire(ctx context.Context, session string, old *observedLease) (*heldLease, error) {
	return m.process.acquire(ctx, session, m.lastEpoch(session), old)
}

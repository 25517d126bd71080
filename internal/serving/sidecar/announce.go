package sidecar

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

const (
	// announceTimeout limits one attempt to write the record.
	announceTimeout = 2 * time.Second
	// announceLag is the delay of records about requests, so that a runner with
	// thousands of requests per minute does not write each time.
	announceLag = 500 * time.Millisecond
)

// An announcer writes the record of its runner, and removes it at the end. It has no mutex,
// because one goroutine writes.
type announcer struct {
	r        *runner
	replaced atomic.Bool // another process has written the last record under the name
}

// announce writes the runner's record: at once after lasting changes, soon after
// others, after each loss of the connection, and three times within its TTL. One
// goroutine writes, so that records stay in order.
func (a *announcer) announce(ctx context.Context) {
	beat := time.NewTicker(a.r.cfg.TTL / 3)
	defer beat.Stop()
	var soon <-chan time.Time
	for {
		reconnected := a.r.cfg.Bus.Reconnected()
		if soon == nil && a.write(ctx) != nil && ctx.Err() == nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(a.r.cfg.TTL / 10):
				continue
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-a.r.announceSoon:
			if soon == nil {
				soon = time.After(announceLag)
			}
			continue
		case <-a.r.announceNow:
		case <-soon:
		case <-beat.C:
		case <-reconnected: // the record may have expired
		}
		soon = nil
	}
}

func (a *announcer) write(ctx context.Context) error {
	a.r.mu.Lock()
	rec := a.r.record()
	a.r.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, announceTimeout)
	defer cancel()
	_, err := a.r.cfg.Bus.PutTTL(ctx, names.RunnersBucket, a.key(), rec, a.r.cfg.TTL)
	if err != nil {
		a.r.cfg.Logger.Debug("cannot announce the runner", "error", err)
	}
	return err
}

// withdraw removes the record at the end, unless another process has taken over the
// name. A record with unacknowledged ends stays until its TTL, for the next leader.
func (a *announcer) withdraw() {
	ctx, cancel := context.WithTimeout(context.Background(), announceTimeout)
	defer cancel()
	a.r.mu.Lock()
	pending := len(a.r.outbox.ends)
	a.r.mu.Unlock()
	if pending > 0 {
		_ = a.write(ctx)
		return
	}
	if a.replaced.Load() {
		return
	}
	if err := a.r.cfg.Bus.Delete(ctx, names.RunnersBucket, a.key(), 0); err != nil {
		a.r.cfg.Logger.Warn("cannot withdraw the runner; its record will expire", "error", err)
	}
}

// listen learns what others store under the runner's name. The returned function ends it.
func (a *announcer) listen() (func(), error) {
	return bus.Listen(a.r.cfg.Bus, names.StoredSubject(names.RunnersBucket, a.key()), a.onRecord)
}

// onRecord learns what was stored under the runner's name: another process with the name may
// have begun, and an earlier one may have removed the record at its end.
func (a *announcer) onRecord(_ string, rec queue.Runner) {
	a.replaced.Store(rec.Instance != "" && rec.Instance != a.r.instance)
	if rec.Instance == "" {
		a.r.mu.Lock()
		defer a.r.mu.Unlock()
		a.r.changed()
	}
}

func (a *announcer) key() string { return names.RunnerKey(a.r.cfg.Session, a.r.cfg.Runner) }

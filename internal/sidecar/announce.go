package sidecar

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/queue"
)

const (
	// announceTimeout bounds one try to write the record.
	announceTimeout = 2 * time.Second
	// announceLag is how old a record may be that tells of requests: a runner
	// that answers thousands of them a minute does not write each time.
	announceLag = 500 * time.Millisecond
)

// announce keeps the runner's record fresh: at each lasting change, soon after
// others, after each loss of the connection, and three times within its TTL
// whatever the engine does. One goroutine writes, so that records never
// overtake each other.
func (r *runner) announce(ctx context.Context) {
	beat := time.NewTicker(r.cfg.TTL / 3)
	defer beat.Stop()
	var soon <-chan time.Time
	for {
		reconnected := r.cfg.Bus.Reconnected()
		if soon == nil && r.write(ctx) != nil && ctx.Err() == nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(r.cfg.TTL / 10):
				continue
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-r.stirred:
			if soon == nil {
				soon = time.After(announceLag)
			}
			continue
		case <-r.changed:
		case <-soon:
		case <-beat.C:
		case <-reconnected: // the record may have expired meanwhile
		}
		soon = nil
	}
}

func (r *runner) write(ctx context.Context) error {
	r.mu.Lock()
	rec := r.record()
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, announceTimeout)
	defer cancel()
	_, err := r.cfg.Bus.PutTTL(ctx, names.RunnersBucket, r.key(), rec, r.cfg.TTL)
	if err != nil {
		r.cfg.Logger.Debug("cannot announce the runner", "error", err)
	}
	return err
}

// withdraw removes the record at the end, unless another process has taken the
// name over. While it holds ends that nobody has acknowledged it stays until
// its TTL, for a leader to come.
func (r *runner) withdraw() {
	ctx, cancel := context.WithTimeout(context.Background(), announceTimeout)
	defer cancel()
	if r.hasEnds() {
		_ = r.write(ctx)
		return
	}
	rec, rev, err := bus.Get[queue.Runner](ctx, r.cfg.Bus, names.RunnersBucket, r.key())
	if err != nil || rec.Instance != r.instance {
		return
	}
	if err := r.cfg.Bus.Delete(ctx, names.RunnersBucket, r.key(), rev); err != nil {
		r.cfg.Logger.Warn("cannot withdraw the runner; its record will expire", "error", err)
	}
}

func (r *runner) key() string { return names.RunnerKey(r.cfg.Session, r.cfg.Runner) }

package sidecar

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue"
)

const (
	// announceTimeout limits one attempt to write the record.
	announceTimeout = 2 * time.Second
	// announceLag is the delay of records about requests, so that a runner with
	// thousands of requests per minute does not write each time.
	announceLag = 500 * time.Millisecond
)

// announce writes the runner's record: at once after lasting changes, soon after
// others, after each loss of the connection, and three times within its TTL. One
// goroutine writes, so that records stay in order.
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
		case <-r.announceSoon:
			if soon == nil {
				soon = time.After(announceLag)
			}
			continue
		case <-r.announceNow:
		case <-soon:
		case <-beat.C:
		case <-reconnected: // the record may have expired
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

// withdraw removes the record at the end, unless another process has taken over the
// name. A record with unacknowledged ends stays until its TTL, for the next leader.
func (r *runner) withdraw() {
	ctx, cancel := context.WithTimeout(context.Background(), announceTimeout)
	defer cancel()
	if r.hasEnds() {
		_ = r.write(ctx)
		return
	}
	if r.isReplaced() {
		return
	}
	if err := r.cfg.Bus.Delete(ctx, names.RunnersBucket, r.key(), 0); err != nil {
		r.cfg.Logger.Warn("cannot withdraw the runner; its record will expire", "error", err)
	}
}

// onRecord learns what was stored under the runner's name: another process with the name may
// have begun, and an earlier one may have removed the record at its end.
func (r *runner) onRecord(_ string, rec queue.Runner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replaced = rec.Instance != "" && rec.Instance != r.instance
	if rec.Instance == "" {
		r.changed()
	}
}

// isReplaced reports whether another process has written the last record under the name.
func (r *runner) isReplaced() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.replaced
}

func (r *runner) key() string { return names.RunnerKey(r.cfg.Session, r.cfg.Runner) }

package demand

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// A table stores which sessions are in demand.
type table interface {
	PutTTL(ctx context.Context, key string, d registry.Demand, ttl time.Duration) (uint64, error)
}

// An Announcer announces the sessions in which this gateway has requests, by keys that
// expire once it stops. Whatever the number of requests, it writes the key of a
// session when the first of them comes, then a few times per TTL, and once more
// when the last has ended.
type Announcer struct {
	table   table
	slots   *Slots
	ttl     time.Duration
	log     *slog.Logger
	changed chan struct{} // capacity 1

	mu       sync.Mutex // guards sessions
	sessions map[string]*sessionDemand
}

// A sessionDemand is one session that has requests, or had some lately.
type sessionDemand struct {
	record  registry.Demand
	holders int
	ended   time.Time // when the last holder left
	written time.Time // last success
}

const (
	demandWrite = 2 * time.Second        // bound of one write
	demandRetry = 500 * time.Millisecond // pause after a failed one
)

// NewAnnouncer returns an announcer whose keys last for the TTL. It keeps the slots of
// isolated pools.
func NewAnnouncer(demands table, slots *Slots, ttl time.Duration, log *slog.Logger) *Announcer {
	return &Announcer{table: demands, slots: slots, ttl: ttl, log: log, changed: make(chan struct{}, 1), sessions: map[string]*sessionDemand{}}
}

// Hold keeps a session in demand until release is called, once. It does not
// block.
func (d *Announcer) Hold(r registry.Demand) (release func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := d.sessions[r.Session]
	if i == nil {
		i = &sessionDemand{record: r}
		d.sessions[r.Session] = i
	}
	i.holders++
	d.notifyIf(i.due(time.Now(), d.ttl))
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		i.holders--
		if i.holders == 0 {
			i.ended = time.Now()
			d.notifyIf(i.due(i.ended, d.ttl))
		}
	}
}

// notifyIf makes Run write if something is due.
func (d *Announcer) notifyIf(due bool) {
	if !due {
		return
	}
	select {
	case d.changed <- struct{}{}:
	default: // Run has not yet seen the signal before
	}
}

// due reports whether the key is to be written.
func (i *sessionDemand) due(now time.Time, ttl time.Duration) bool {
	age := now.Sub(i.written)
	if i.holders > 0 {
		return age >= ttl/3
	}
	return i.ended.After(i.written) && age >= ttl/6
}

// Run writes until ctx ends.
func (d *Announcer) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.changed:
		case <-timer.C:
		}
		timer.Reset(d.announce(ctx))
	}
}

// announce writes the keys that are due, and returns the pause until it is to be
// called again.
func (d *Announcer) announce(ctx context.Context) time.Duration {
	pause := d.ttl / 6
	for _, r := range d.collect(time.Now()) {
		try, cancel := context.WithTimeout(ctx, demandWrite)
		if r.Session != names.Session(r.Namespace, r.Model, "") {
			d.slots.keep(try, r.Namespace, r.Session)
		}
		_, err := d.table.PutTTL(try, r.Session, r, d.ttl)
		cancel()
		if err != nil {
			if ctx.Err() == nil {
				d.log.Warn("cannot announce demand", "session", r.Session, "error", err)
			}
			pause = min(pause, demandRetry)
			continue
		}
		d.wrote(r.Session, time.Now())
	}
	return pause
}

// collect returns the sessions whose keys are due, and forgets those that expire.
func (d *Announcer) collect(now time.Time) []registry.Demand {
	d.mu.Lock()
	defer d.mu.Unlock()
	var due []registry.Demand
	for session, i := range d.sessions {
		switch {
		case i.due(now, d.ttl):
			due = append(due, i.record)
		case i.holders == 0 && now.Sub(i.written) >= d.ttl:
			delete(d.sessions, session)
		}
	}
	return due
}

func (d *Announcer) wrote(session string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := d.sessions[session]; i != nil {
		i.written = now
	}
}

package pool

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/external/feed"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// settle is the time for runners to announce themselves after an outage of NATS,
// during which records of healthy runners expire.
const settle = 5 * time.Second

// A runnerCache is a copy of the records of all runners while a pool is watched. It
// is safe for concurrent use.
type runnerCache struct {
	bus *bus.Bus

	mu      sync.Mutex // guards the fields below
	synced  bool
	settled time.Time
	records map[string]map[string]queue.Runner // by session and name
}

// follow updates the copy, and reports the sessions whose runners or requests
// change.
func (r *runnerCache) follow(ctx context.Context, notify func(topic string)) {
	r.reset()
	defer r.reset()
	var readers sync.WaitGroup
	readers.Go(func() {
		bus.Watch(ctx, r.bus, names.RunnersBucket, ">", func(e bus.Event[queue.Runner]) {
			if topic, changed := r.apply(e, time.Now()); changed {
				notify(topic)
			}
		})
	})
	readers.Go(func() {
		var before map[string]int
		queue.New(r.bus).Sessions(ctx, func(open map[string]int) {
			for session, n := range open {
				if before[session] != n {
					notify(session)
				}
			}
			before = open
		})
	})
	readers.Wait()
}

func (r *runnerCache) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.synced, r.records = false, map[string]map[string]queue.Runner{}
}

// apply applies one change, and reports the session that it changes. A heartbeat is
// no change.
func (r *runnerCache) apply(e bus.Event[queue.Runner], now time.Time) (topic string, changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Kind == bus.Synced {
		r.synced, r.settled = true, now.Add(settle)
		return feed.Everyone, true
	}
	session, name, ok := strings.Cut(e.Key, ".")
	if !ok {
		return "", false
	}
	old, had := r.records[session][name]
	if e.Kind == bus.Gone {
		delete(r.records[session], name)
		if len(r.records[session]) == 0 {
			delete(r.records, session)
		}
		return session, had
	}
	if r.records[session] == nil {
		r.records[session] = map[string]queue.Runner{}
	}
	r.records[session][name] = e.Value
	return session, !had || old.Instance != e.Value.Instance || old.Version != e.Value.Version
}

// list returns the runners of a session by name, and the time from which on their
// absence is reliable. It reads the bucket unless there is a copy.
func (r *runnerCache) list(ctx context.Context, session string) (found map[string]queue.Runner, settled time.Time, err error) {
	r.mu.Lock()
	if r.synced {
		defer r.mu.Unlock()
		found = make(map[string]queue.Runner, len(r.records[session]))
		for name, one := range r.records[session] {
			found[name] = one
		}
		return found, r.settled, nil
	}
	r.mu.Unlock()
	kv, err := r.bus.JetStream().KeyValue(ctx, names.RunnersBucket)
	if err != nil {
		return nil, time.Time{}, listError(session, err)
	}
	lister, err := kv.ListKeysFiltered(ctx, names.RunnerKey(session, "*"))
	if err != nil {
		return nil, time.Time{}, listError(session, err)
	}
	defer func() { _ = lister.Stop() }()
	found = map[string]queue.Runner{}
	for key := range lister.Keys() {
		one, _, err := bus.Get[queue.Runner](ctx, r.bus, names.RunnersBucket, key)
		if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Corrupt) {
			continue
		}
		if err != nil {
			return nil, time.Time{}, err
		}
		found[strings.TrimPrefix(key, session+".")] = one
	}
	// A single observation does not know the past.
	return found, time.Now().Add(settle), ctx.Err()
}

func listError(session string, err error) error {
	kind := fault.Transient
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kind = fault.NotFound
	}
	return fault.Errorf(kind, "cannot list the runners of session %q: %w", session, err)
}

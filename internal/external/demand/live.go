package demand

import (
	"context"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/external/feed"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// settle is the time for gateways to announce demand again after an outage of
// NATS, during which keys expire although requests wait.
const settle = 5 * time.Second

// live is a copy of the bucket while a watch runs. It is safe for concurrent use.
type live struct {
	bus *bus.Bus

	mu       sync.Mutex // guards the fields below
	synced   bool
	settled  time.Time
	sessions map[string]registry.Demand
}

// follow updates the copy, and reports the namespaces whose sessions change.
func (l *live) follow(ctx context.Context, tell func(topic string)) {
	l.reset()
	defer l.reset()
	bus.Watch(ctx, l.bus, names.DemandBucket, ">", func(e bus.Event[registry.Demand]) {
		if topic, ok := l.take(e, time.Now()); ok {
			tell(topic)
		}
	})
}

func (l *live) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.synced, l.sessions = false, map[string]registry.Demand{}
}

// take applies one change, and reports the namespace that it changes. Writing a
// key again is no change.
func (l *live) take(e bus.Event[registry.Demand], now time.Time) (topic string, news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Kind == bus.Synced {
		l.synced, l.settled = true, now.Add(settle)
		return feed.Everyone, true
	}
	old, had := l.sessions[e.Key]
	if e.Kind == bus.Gone || !valid(e.Key, e.Value) {
		delete(l.sessions, e.Key)
		return old.Namespace, had
	}
	l.sessions[e.Key] = e.Value
	return e.Value.Namespace, old != e.Value
}

// all returns the sessions in demand; ok is false until the copy is complete.
func (l *live) all() (sessions []registry.Demand, settled time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.sessions {
		sessions = append(sessions, s)
	}
	return sessions, l.settled, l.synced
}

// valid reports whether the session of a record matches its key and its model.
func valid(key string, d registry.Demand) bool {
	return d.Session == key && d.Model != "" && names.SessionOf(key, names.Session(d.Namespace, d.Model, ""))
}

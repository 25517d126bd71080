package demand

import (
	"context"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/external/feed"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/registry"
)

// settle is how long gateways may take to announce demand again after NATS was
// away: its keys expire meanwhile, though requests wait.
const settle = 5 * time.Second

// live is a copy of the bucket while somebody watches it. Safe for concurrent use.
type live struct {
	bus *bus.Bus

	mu       sync.Mutex // guards the fields below
	synced   bool
	settled  time.Time
	sessions map[string]registry.Demand
}

// follow keeps the copy, and tells the namespaces whose sessions change.
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

// take takes one change over, and reports who has news by it. A key that is
// only written again is none.
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

// all are the sessions in demand; ok is false as long as not all are known.
func (l *live) all() (sessions []registry.Demand, settled time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.sessions {
		sessions = append(sessions, s)
	}
	return sessions, l.settled, l.synced
}

// valid reports whether a record is the demand for the session of its key, and
// the session one of its model.
func valid(key string, d registry.Demand) bool {
	return d.Session == key && d.Model != "" && names.SessionOf(key, names.Session(d.Namespace, d.Model, ""))
}

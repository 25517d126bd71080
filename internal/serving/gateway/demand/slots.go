package demand

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// Slots share the slots for isolated pools among the gateways of a namespace. A
// slot is a key that expires: a gateway keeps it while the pool is in demand.
type Slots struct {
	table *registry.Table[registry.Slot]
	cache *registry.Cache[registry.Slot] // slots that all gateways have taken, as far as known
	most  int                            // per namespace
	ttl   time.Duration
	log   *slog.Logger

	mu    sync.Mutex // guards taken, and serializes the search for a slot
	taken map[string]taken
}

// A taken slot is one that this gateway took or kept. The cache holds it only
// later.
type taken struct {
	slot     registry.Slot
	revision uint64
	until    time.Time // it lasts at least so long
}

// NewSlots returns the slots of each namespace, of which there are most. They are known
// only while Run runs.
func NewSlots(b *bus.Bus, most int, ttl time.Duration, log *slog.Logger) *Slots {
	table := registry.Slots(b)
	return &Slots{table: table, cache: table.Cache(), most: most, ttl: ttl, log: log, taken: map[string]taken{}}
}

// Run watches which slots are taken, until ctx ends.
func (s *Slots) Run(ctx context.Context) { s.cache.Run(ctx) }

// Synced returns a channel that is closed once the taken slots are known.
func (s *Slots) Synced() <-chan struct{} { return s.cache.Synced() }

// Hold reports whether a session has a slot. It takes a free one if the session
// has none, and blocks only then.
func (s *Slots) Hold(ctx context.Context, namespace, session string) bool {
	if _, ok := s.find(namespace, session); ok {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.taken[session]; ok && time.Now().Before(t.until) {
		return true
	}
	return s.take(ctx, namespace, session)
}

// find returns the slot of a session among those in the cache.
func (s *Slots) find(namespace, session string) (registry.Record[registry.Slot], bool) {
	for n := range s.most {
		if r, ok := s.cache.Record(names.SlotKey(namespace, n)); ok && r.Value.Session == session {
			return r, true
		}
	}
	return registry.Record[registry.Slot]{}, false
}

// slotTimeout bounds the search for a slot, which delays a request.
const slotTimeout = 2 * time.Second

// take takes a free slot, and reports whether it did. It is called with mu held.
func (s *Slots) take(ctx context.Context, namespace, session string) bool {
	ctx, cancel := context.WithTimeout(ctx, slotTimeout)
	defer cancel()
	now := time.Now()
	maps.DeleteFunc(s.taken, func(_ string, t taken) bool { return t.slot.Session == session || now.After(t.until) })
	for n := range s.most {
		slot := registry.NewSlot(namespace, n, session)
		if _, known := s.cache.Record(slot.Key()); known {
			continue
		}
		revision, err := s.table.SwapTTL(ctx, slot.Key(), slot, 0, s.ttl)
		switch {
		case err == nil:
			s.taken[session] = taken{slot, revision, now.Add(s.ttl)}
			return true
		case fault.Is(err, fault.Conflict): // another gateway was faster
		default:
			s.log.Warn("cannot take a slot for an isolated pool", "session", session, "error", err)
			return false
		}
	}
	return false
}

// keep makes the slot of a session last for another TTL.
func (s *Slots) keep(ctx context.Context, namespace, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, held := s.taken[session]
	if r, known := s.find(namespace, session); known && r.Revision > t.revision {
		t.slot, t.revision = r.Value, r.Revision // another gateway has kept it since
	} else if !held {
		return
	}
	now := time.Now()
	revision, err := s.table.SwapTTL(ctx, t.slot.Key(), t.slot, t.revision, s.ttl)
	switch {
	case err == nil:
		s.taken[session] = taken{t.slot, revision, now.Add(s.ttl)}
	case ctx.Err() != nil:
	case fault.Is(err, fault.Conflict):
		// Another gateway has just done the same, or the slot expired while NATS
		// was away.
		delete(s.taken, session)
		if _, known := s.find(namespace, session); !known {
			s.take(ctx, namespace, session)
		}
	default:
		s.log.Warn("cannot keep the slot of an isolated pool", "session", session, "error", err)
	}
}

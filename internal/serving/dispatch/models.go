package dispatch

import (
	"sync"

	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// models is a copy of what the records of models say to runners, which may not read them.
type models struct {
	mu      sync.Mutex // guards the fields below
	records map[string]queue.Members
	synced  bool
}

// observe handles one change of the bucket of models.
func (m *models) observe(e bus.Event[queue.Members]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch e.Kind {
	case bus.Changed:
		m.records[e.Key] = e.Value
	case bus.Gone:
		delete(m.records, e.Key)
	case bus.Synced:
		m.synced = true
	}
}

// members returns how the requests for a model are shared, or false before the records have
// been read.
func (m *models) members(key string) (queue.Members, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[key], m.synced
}

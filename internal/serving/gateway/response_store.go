package gateway

import (
	"bytes"
	"context"

	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/openai/responses"
	"github.com/gorizond/koldun/internal/serving/gateway/responsestore"
)

// A responseStore holds responses that later requests may refer to. Each belongs to a tenant.
type responseStore interface {
	// Lasting reports whether responses can be stored.
	Lasting() bool
	// Get returns a response, nil if there is none. Its errors are *openai.Error.
	Get(ctx context.Context, tenant, id string) (*responses.Record, error)
	// Keep gets a complete response with its whole input, and reports whether it is
	// stored. It stores only what wants to be.
	Keep(ctx context.Context, tenant string, input []responses.Item, r *responses.Response) bool
	// Remove deletes a response, and reports whether there was one.
	Remove(ctx context.Context, tenant, id string) (bool, error)
}

func storeOf(b *bus.Bus, cfg Config) responseStore {
	if cfg.ResponsesTTL == 0 {
		return responsestore.None{}
	}
	return responsestore.New(b, cfg.ResponsesTTL, cfg.ResponsesMaxBytes, cfg.Logger)
}

// A memory holds the last response of one connection, whether it is stored or not:
// the next request may continue it. It takes its bytes from those that the gateway has
// for bodies, and holds no response for which there are none. It belongs to one
// goroutine.
type memory struct {
	responseStore
	bodies *bodies
	tenant string
	id     string
	record *responses.Record
	held   int64 // bytes
}

func (m *memory) Get(ctx context.Context, tenant, id string) (*responses.Record, error) {
	if id == m.id && m.record != nil {
		return m.record, nil
	}
	return m.responseStore.Get(ctx, tenant, id)
}

func (m *memory) Keep(ctx context.Context, tenant string, input []responses.Item, r *responses.Response) bool {
	m.drop()
	record := responses.NewRecord(input, r)
	const each = 64 // bytes of an item beside its own
	if n := record.Size() + each*int64(len(record.Input)); m.bodies.take(m.tenant, n) {
		for i, item := range record.Input { // which would keep the whole body in memory
			record.Input[i] = bytes.Clone(item)
		}
		m.id, m.record, m.held = r.ID, record, n
	}
	return m.responseStore.Keep(ctx, tenant, input, r)
}

// forget drops the response if it is the one that is held.
func (m *memory) forget(id string) {
	if id != "" && id == m.id {
		m.drop()
	}
}

func (m *memory) drop() {
	if m.held > 0 {
		m.bodies.give(m.tenant, m.held)
	}
	m.id, m.record, m.held = "", nil, 0
}

package gateway

import (
	"context"

	"github.com/gorizond/koldun/internal/openai/responses"
)

// A memory holds the last response of one connection, whether it is stored or not:
// the next request may continue it. It belongs to one goroutine.
type memory struct {
	answers
	id     string
	record *responses.Record
}

func (m *memory) get(ctx context.Context, tenant, id string) (*responses.Record, error) {
	if id == m.id && m.record != nil {
		return m.record, nil
	}
	return m.answers.get(ctx, tenant, id)
}

func (m *memory) keep(ctx context.Context, tenant string, input []responses.Item, r *responses.Response) bool {
	m.id, m.record = r.ID, responses.NewRecord(input, r)
	return m.answers.keep(ctx, tenant, input, r)
}

// forget drops the response if it is the one that is held.
func (m *memory) forget(id string) {
	if id != "" && id == m.id {
		m.id, m.record = "", nil
	}
}

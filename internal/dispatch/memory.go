package dispatch

import "time"

// A memory remembers a limited number of the newest ids.
type memory struct {
	limit int
	at    map[string]time.Time
	order []string
}

func newMemory(limit int) *memory {
	return &memory{limit: limit, at: map[string]time.Time{}}
}

func (m *memory) add(id string, now time.Time) {
	if _, ok := m.at[id]; ok {
		return
	}
	m.at[id] = now
	m.order = append(m.order, id)
	for len(m.order) > m.limit {
		delete(m.at, m.order[0])
		m.order = m.order[1:]
	}
}

func (m *memory) has(id string) bool {
	_, ok := m.at[id]
	return ok
}

// forget drops ids that were added before a time.
func (m *memory) forget(before time.Time) {
	for len(m.order) > 0 && m.at[m.order[0]].Before(before) {
		delete(m.at, m.order[0])
		m.order = m.order[1:]
	}
}

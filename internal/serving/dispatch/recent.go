package dispatch

import "time"

const maxRecentIDs = 4096

// recentIDs is a set of ids that keeps only the newest limit ids.
type recentIDs struct {
	limit int
	at    map[string]time.Time
	order []string
}

func newRecentIDs(limit int) *recentIDs {
	return &recentIDs{limit: limit, at: map[string]time.Time{}}
}

func (r *recentIDs) add(id string, now time.Time) {
	if _, ok := r.at[id]; ok {
		return
	}
	r.at[id] = now
	r.order = append(r.order, id)
	for len(r.order) > r.limit {
		delete(r.at, r.order[0])
		r.order = r.order[1:]
	}
}

func (r *recentIDs) has(id string) bool {
	_, ok := r.at[id]
	return ok
}

// forget drops ids that were added before a time.
func (r *recentIDs) forget(before time.Time) {
	for len(r.order) > 0 && r.at[r.order[0]].Before(before) {
		delete(r.at, r.order[0])
		r.order = r.order[1:]
	}
}

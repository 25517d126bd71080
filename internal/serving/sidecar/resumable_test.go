package sidecar

import (
	"slices"
	"testing"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// All attempts of a request on a runner can send their frames again until they are
// removed, and attempts of other requests do not.
func TestResumable(t *testing.T) {
	log := func(id string) *frameLog {
		return newFrameLog(nil, nil, queue.Assignment{Request: queue.Request{ID: id}})
	}
	first, second, other := log("req_1"), log("req_1"), log("req_2")
	var m resumable
	for _, l := range []*frameLog{first, second, other} {
		m.add(l)
	}
	want := func(id string, logs ...*frameLog) {
		t.Helper()
		if !slices.Equal(m[id], logs) {
			t.Errorf("%d logs of %s, want %d", len(m[id]), id, len(logs))
		}
	}
	want("req_1", first, second)
	m.remove(first)
	want("req_1", second)
	want("req_2", other)
	m.remove(second)
	m.remove(second)
	if want("req_1"); len(m) != 1 {
		t.Errorf("%d requests are held, want 1", len(m))
	}
}

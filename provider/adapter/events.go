package adapter

import (
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// repeatAfter is how long an event that equals the last one of the resource is
	// not sent: during an outage every attempt would send one.
	repeatAfter = 10 * time.Minute
	// sentKept bounds the memory of sent events.
	sentKept = 10_000
)

// A dedupe recorder does not send an event again that it has just sent.
type dedupe struct {
	to   event.Recorder
	sent *sent
}

func newDedupe(to event.Recorder) event.Recorder {
	return dedupe{to: to, sent: &sent{last: map[types.UID]record{}, now: time.Now}}
}

type sent struct {
	now func() time.Time

	mu   sync.Mutex
	last map[types.UID]record
}

type record struct {
	what event.Event
	at   time.Time
}

// Event sends an event unless it repeats the last one.
func (d dedupe) Event(obj runtime.Object, e event.Event) {
	if m, err := meta.Accessor(obj); err == nil && d.sent.again(m.GetUID(), e) {
		return
	}
	d.to.Event(obj, e)
}

// WithAnnotations returns a recorder that adds annotations to events.
func (d dedupe) WithAnnotations(pairs ...string) event.Recorder {
	return dedupe{to: d.to.WithAnnotations(pairs...), sent: d.sent}
}

func (s *sent) again(of types.UID, e event.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.last[of]
	now := s.now()
	if ok && last.what.Type == e.Type && last.what.Reason == e.Reason && last.what.Message == e.Message && now.Sub(last.at) < repeatAfter {
		return true
	}
	if len(s.last) >= sentKept {
		clear(s.last)
	}
	s.last[of] = record{what: event.Event{Type: e.Type, Reason: e.Reason, Message: e.Message}, at: now}
	return false
}

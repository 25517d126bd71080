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
	// sayAgain is how long an event of a resource that says the same as its
	// last one is not sent: during an outage every try would send one.
	sayAgain = 10 * time.Minute
	// saidKept bounds the memory of what was said.
	saidKept = 10_000
)

// A quiet recorder does not repeat itself.
type quiet struct {
	to   event.Recorder
	said *said
}

func newQuiet(to event.Recorder) event.Recorder {
	return quiet{to: to, said: &said{last: map[types.UID]utterance{}, now: time.Now}}
}

type said struct {
	now func() time.Time

	mu   sync.Mutex
	last map[types.UID]utterance
}

type utterance struct {
	what event.Event
	at   time.Time
}

// Event sends an event that says something new.
func (q quiet) Event(obj runtime.Object, e event.Event) {
	if m, err := meta.Accessor(obj); err == nil && q.said.again(m.GetUID(), e) {
		return
	}
	q.to.Event(obj, e)
}

// WithAnnotations is a recorder that adds annotations to events.
func (q quiet) WithAnnotations(pairs ...string) event.Recorder {
	return quiet{to: q.to.WithAnnotations(pairs...), said: q.said}
}

func (s *said) again(of types.UID, e event.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, ok := s.last[of]
	now := s.now()
	if ok && last.what.Type == e.Type && last.what.Reason == e.Reason && last.what.Message == e.Message && now.Sub(last.at) < sayAgain {
		return true
	}
	if len(s.last) >= saidKept {
		clear(s.last)
	}
	s.last[of] = utterance{what: event.Event{Type: e.Type, Reason: e.Reason, Message: e.Message}, at: now}
	return false
}

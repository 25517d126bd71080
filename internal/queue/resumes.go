package queue

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// resumesAhead is how many questions may wait; what comes beyond is lost, and
// asked again.
const resumesAhead = 256

// Resumes hears who asks for frames of requests to be sent again. Each request
// has a subject of its own, so that in a large pool only one runner hears it, but
// all of them share a goroutine: thousands may be listened for.
type Resumes struct {
	queue *Queue
	msgs  chan *nats.Msg

	mu    sync.Mutex
	heard map[*nats.Subscription]func(Resume)
}

// Resumes makes one. Somebody has to call Run.
func (q *Queue) Resumes() *Resumes {
	return &Resumes{queue: q, msgs: make(chan *nats.Msg, resumesAhead), heard: map[*nats.Subscription]func(Resume){}}
}

// Run hands over what is asked until ctx ends.
func (r *Resumes) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case m := <-r.msgs:
			r.hear(m)
		}
	}
}

func (r *Resumes) hear(m *nats.Msg) {
	r.mu.Lock()
	handle := r.heard[m.Sub]
	r.mu.Unlock()
	if handle == nil {
		return // it came with the end of its subscription
	}
	var from Resume
	if err := json.Unmarshal(m.Data, &from); err != nil {
		r.queue.log.Warn("cannot decode a message", "subject", m.Subject, "error", err)
		return
	}
	handle(from)
}

// Serve has handle called, by Run, with each question for the frames of a
// request, until stop is called. It must not block for long.
func (r *Resumes) Serve(ref Ref, handle func(Resume)) (stop func(), err error) {
	subject := names.ResumeSubject(ref.Session, ref.ID)
	r.mu.Lock()
	defer r.mu.Unlock()
	sub, err := r.queue.bus.Conn().ChanSubscribe(subject, r.msgs)
	if err != nil {
		return nil, fault.Errorf(fault.KindOf(bus.Kinded(err)), "cannot subscribe to %q: %w", subject, err)
	}
	r.heard[sub] = handle
	return func() {
		_ = sub.Unsubscribe() // what fails has ended with its connection
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.heard, sub)
	}, nil
}

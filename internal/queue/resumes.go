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

// resumesAhead is the number of buffered requests. Further ones are lost, and
// repeated by their senders.
const resumesAhead = 256

// Resumes receives requests for missing frames. Each request has its own subject,
// so that only one runner of a large pool receives the message, but all
// subscriptions share one goroutine, because there may be thousands.
type Resumes struct {
	queue *Queue
	msgs  chan *nats.Msg

	mu    sync.Mutex
	heard map[*nats.Subscription]func(Resume)
}

// Resumes returns a Resumes. The caller must call Run.
func (q *Queue) Resumes() *Resumes {
	return &Resumes{queue: q, msgs: make(chan *nats.Msg, resumesAhead), heard: map[*nats.Subscription]func(Resume){}}
}

// Run calls the handlers until ctx ends.
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
		return // its subscription has ended
	}
	var from Resume
	if err := json.Unmarshal(m.Data, &from); err != nil {
		r.queue.log.Warn("cannot decode a message", "subject", m.Subject, "error", err)
		return
	}
	handle(from)
}

// Serve makes Run call handle for each request for frames of ref, until stop is
// called. handle must not block for long.
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
		_ = sub.Unsubscribe() // fails only if the connection is closed
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.heard, sub)
	}, nil
}

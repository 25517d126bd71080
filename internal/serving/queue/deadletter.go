package queue

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// A DeadLetter is a request that failed on each runner that tried it, before its
// first token. It contains the prompt.
type DeadLetter struct {
	Request  Request   `json:"request"`
	Reasons  []string  `json:"reasons"` // of each attempt, oldest first
	Attempts int       `json:"attempts"`
	Failed   time.Time `json:"failed"`
}

// deadTry limits PublishDeadLetter, because the outcome of the request waits for
// it.
const deadTry = 5 * time.Second

// deadLetters is the stream of dead letters.
type deadLetters struct{ streams streams }

// PublishDeadLetter stores a dead letter, or replaces that of the same request. It
// retries for at most deadTry. Errors: Transient (no stream or no answer), Quota
// (no room), Interrupted.
func (s deadLetters) PublishDeadLetter(ctx context.Context, d DeadLetter) error {
	ctx, cancel := context.WithTimeout(ctx, deadTry)
	defer cancel()
	data, err := json.Marshal(d)
	if err != nil {
		return fault.Errorf(fault.Internal, "cannot encode the dead letter of request %q: %w", d.Request.ID, err)
	}
	subject := names.DeadOf(d.Request.Session, d.Request.Tenant, d.Request.ID)
	if _, err := s.streams.store(ctx, names.DeadStream, &nats.Msg{Subject: subject, Data: data}); err != nil {
		return fault.Errorf(fault.KindOf(err), "cannot store the dead letter of request %q: %w", d.Request.ID, err)
	}
	return nil
}

// DeadLetters calls handle for each dead letter of a session ("*" for all) since
// the given time, oldest first, until handle returns false. Errors: NotFound (no
// such stream), Transient.
func (s deadLetters) DeadLetters(ctx context.Context, session string, since time.Time, handle func(DeadLetter) bool) error {
	all := scan{stream: names.DeadStream, filter: names.DeadOf(session, "*", "*"), since: since}
	return s.streams.scan(ctx, all, decoded(s.streams, names.DeadStream, handle))
}

// DeadLetter finds the dead letter of a request by its id, with its sequence.
// Errors: NotFound, Transient, Invalid (no id).
func (s deadLetters) DeadLetter(ctx context.Context, id string) (DeadLetter, uint64, error) {
	var found DeadLetter
	seq, err := s.streams.lookUp(ctx, names.DeadStream, names.DeadOf("*", "*", id), id, &found)
	return found, seq, err
}

// DeleteDeadLetter deletes a dead letter by its sequence if it exists.
func (s deadLetters) DeleteDeadLetter(ctx context.Context, seq uint64) error {
	return s.streams.delete(ctx, names.DeadStream, seq)
}

// Replay returns a new request with the content and time limits of the dead
// letter.
func (d DeadLetter) Replay(id string, now time.Time) Request {
	r := d.Request
	r.ID, r.ReplayOf, r.Created = id, d.Request.ID, now
	for _, limit := range []*time.Time{&r.Deadline, &r.EndBy} {
		if !limit.IsZero() {
			*limit = now.Add(limit.Sub(d.Request.Created))
		}
	}
	r.Traceparent = ""
	return r
}

package queue

import (
	"context"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// Outcomes calls handle for each terminal record of a session ("*" for all) since
// the given time, oldest first, until handle returns false. Errors: NotFound (no
// such stream), Transient.
func (q *Queue) Outcomes(ctx context.Context, session string, since time.Time, handle func(Outcome) bool) error {
	s := scan{stream: names.OutcomeStream, filter: names.OutcomeOf(session, "*", "*"), since: since}
	return q.scan(ctx, s, decoded(q, names.OutcomeStream, func(o Outcome) bool { return o.State == "" || handle(o) }))
}

// FindOutcome finds the terminal record of a request by its id alone. Errors:
// NotFound, Transient, Invalid (no id).
func (q *Queue) FindOutcome(ctx context.Context, id string) (Outcome, error) {
	var found Outcome
	_, err := lookUp(ctx, q, names.OutcomeStream, names.OutcomeOf("*", "*", id), id, &found)
	if err == nil && found.State == "" {
		return Outcome{}, fault.Errorf(fault.NotFound, "cannot find the outcome of request %q: it has not ended", id)
	}
	return found, err
}

// An OpenRequest is a request in the stream, which has not ended.
type OpenRequest struct {
	Ref
	Stored time.Time `json:"stored"`
}

// OpenRequests calls handle for each request of a session ("*" for all) in the
// request stream, oldest first, until handle returns false. Errors: NotFound (no
// such stream), Transient.
func (q *Queue) OpenRequests(ctx context.Context, session string, handle func(OpenRequest) bool) error {
	prefix := strings.TrimSuffix(names.RequestSubjects, ">")
	s := scan{stream: names.RequestStream, filter: names.RequestSubject(session, "*"), headersOnly: true}
	return q.scan(ctx, s, func(msg jetstream.Msg) bool {
		session, tenant, _ := strings.Cut(strings.TrimPrefix(msg.Subject(), prefix), ".")
		open := OpenRequest{Ref: Ref{ID: msg.Headers().Get(nats.MsgIdHdr), Session: session, Tenant: tenant}}
		if meta, err := msg.Metadata(); err == nil {
			open.Stored = meta.Timestamp.UTC()
		}
		return open.ID == "" || handle(open)
	})
}

// FindOpen finds a request that has not ended by its id alone. Errors:
// NotFound, Transient.
func (q *Queue) FindOpen(ctx context.Context, id string) (OpenRequest, error) {
	var found OpenRequest
	err := q.OpenRequests(ctx, "*", func(o OpenRequest) bool {
		if o.ID == id {
			found = o
		}
		return o.ID != id
	})
	if err == nil && found.ID == "" {
		err = fault.Errorf(fault.NotFound, "cannot find request %q among those that have not ended", id)
	}
	return found, err
}

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

// An OpenRequest is a request in the stream, which has not ended.
type OpenRequest struct {
	Ref
	Stored time.Time `json:"stored"`
}

// OpenRequests calls handle for each request of a session ("*" for all) in the
// request stream, oldest first, until handle returns false. Errors: NotFound (no
// such stream), Transient.
func (s requests) OpenRequests(ctx context.Context, session string, handle func(OpenRequest) bool) error {
	prefix := strings.TrimSuffix(names.RequestSubjects, ">")
	all := scan{stream: names.RequestStream, filter: names.RequestSubject(session, "*"), headersOnly: true}
	return s.streams.scan(ctx, all, func(msg jetstream.Msg) bool {
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
func (s requests) FindOpen(ctx context.Context, id string) (OpenRequest, error) {
	var found OpenRequest
	err := s.OpenRequests(ctx, "*", func(o OpenRequest) bool {
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

package queue

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/queue/wire"
)

// An Entry is one message of the request stream.
type Entry struct {
	Seq uint64 // to delete it by
	// Lasting: no other message will ever have the sequence, not even if the
	// stream is lost and made anew.
	Lasting bool
	Request Request
	Raw     []byte // the request as it is stored
}

// Backlog tells handle of every request of a session that is in the stream,
// oldest first, then calls replayed once, and then tells of each that comes,
// until ctx ends; it returns only then. "All that is in the stream" is what its
// leader knows of, even if another server is read from and lags behind. No
// message is told twice. One that is no request is told with an empty Request.ID, so that it can be deleted.
// Both functions are called from one goroutine.
func (q *Queue) Backlog(ctx context.Context, session string, handle func(Entry), replayed func()) {
	filter := names.RequestSubject(session, "*")
	var r streamReader
	r = streamReader{
		queue:   q,
		filter:  filter,
		reached: replayed,
		newest:  func(ctx context.Context) (uint64, error) { return q.newest(ctx, filter) },
		handle: func(msg jetstream.Msg, seq uint64) {
			e := Entry{Seq: seq, Lasting: r.lasting, Raw: msg.Data()}
			if err := wire.Unmarshal(msg.Data(), &e.Request); err != nil || e.Request.Session != session {
				q.log.Warn("cannot decode a message of the request stream", "sequence", seq, "error", err)
				e.Request = Request{}
			}
			handle(e)
		},
	}
	r.run(ctx)
}

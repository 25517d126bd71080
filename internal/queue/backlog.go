package queue

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/queue/wire"
)

// An Entry is one message of the request stream.
type Entry struct {
	Seq uint64 // for Delete
	// Lasting means that no other message ever gets this sequence, even if the
	// stream is lost and recreated.
	Lasting bool
	Request Request
	Raw     []byte // the request as it is stored
}

// Backlog calls handle for every request of a session in the stream, oldest
// first, then replayed once, and then handle for each new request, until ctx ends;
// it returns only then. It reads everything that the stream's leader has, even if
// it reads from a lagging replica. It reports no message twice. It reports a
// message that is not a request with an empty Request.ID, so that the caller can
// delete it. It calls both functions from one goroutine.
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

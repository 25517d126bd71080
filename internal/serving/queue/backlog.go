package queue

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue/wire"
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

// A BacklogReader receives the requests of a session. Backlog calls its functions from
// one goroutine.
type BacklogReader struct {
	// Entry is called for every request in the stream, oldest first. One that is not a
	// request has an empty Request.ID, so that the caller can delete it.
	Entry func(Entry)
	// Again is called before all requests are read once more, because the connection
	// was restored: the stream may be older than what was read, and other requests
	// may have the sequences of those that it lost.
	Again func()
	// Current is called each time when all existing requests have been read, with the
	// bus.Connection that they were read on.
	Current func(connection uint64)
}

// Backlog reads the requests of a session until ctx ends; it returns only then. It reads
// everything that the stream's leader has, even if it reads from a lagging replica. On
// one connection it reports no message twice.
func (s requests) Backlog(ctx context.Context, session string, to BacklogReader) {
	filter := names.RequestSubject(session, "*")
	var reader streamReader
	reader = streamReader{
		bus:      s.streams.bus,
		filter:   filter,
		again:    to.Again,
		current:  to.Current,
		patience: readPatience,
		newest:   func(ctx context.Context) (uint64, error) { return s.newest(ctx, filter) },
		handle: func(msg jetstream.Msg, seq uint64) {
			e := Entry{Seq: seq, Lasting: reader.lasting, Raw: msg.Data()}
			if err := wire.Unmarshal(msg.Data(), &e.Request); err != nil || e.Request.Session != session {
				s.streams.bus.Logger().Warn("cannot decode a message of the request stream", "sequence", seq, "error", err)
				e.Request = Request{}
			}
			to.Entry(e)
		},
	}
	reader.run(ctx)
}

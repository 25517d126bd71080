package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// freshFor is the age up to which a newly stored request cannot have ended
// before. It is well within the stream's window of deduplication.
const freshFor = time.Minute

// An intake reads the requests of a session, and finds out which of them an earlier leader may
// know, and which the stream has lost. The leader's loop owns it.
type intake struct {
	*loop
	stream *stream
	ledger *ledger
	roster *roster

	missing map[string]missing   // requests whose clients wait, and that the ledger lacks
	lost    map[string]queue.Ref // those that are missing for so long that they are lost
	looking bool                 // whether the stream is being looked at for them
}

// A missing request has a client that waits, and this leader does not know it.
type missing struct {
	ref   queue.Ref
	since time.Time
}

// onEntry records a message of the request stream. It returns the job that begins with it, or
// nil if the message is a copy, or is of a job that is known.
func (in *intake) onEntry(e queue.Entry) *job {
	r := e.Request
	known := in.ledger.jobs[r.ID]
	if known != nil && known.stored && known.seq == e.Seq {
		return nil // the same message, read twice
	}
	in.stream.purger.add(e.Seq, e.Lasting)
	if known != nil && !known.stored {
		known.seq, known.stored = e.Seq, true
		if known.lost { // it only seemed to be: what ends it has not happened yet
			known.lost = false
			known.fill(e, in.cfg.MaxWait)
		}
		return nil
	}
	// The record of a request that has ended may be lost as well: fencing finds out.
	ended := in.stream.ended.has(r.ID)
	if r.ID == "" || known != nil || ended && !in.stream.rereads {
		in.stream.purger.end(e.Seq, time.Now()) // not a request, or stored twice
		return nil
	}
	fresh := in.stream.replayed && !ended && time.Since(r.Created).Abs() < freshFor
	j := &job{seq: e.Seq, stored: true, unfenced: !fresh}
	j.fill(e, in.cfg.MaxWait)
	in.ledger.jobs[r.ID] = j
	return j
}

// begin makes a job wait for a runner. It takes over and fences one that an earlier leader may
// know first.
func (in *intake) begin(j *job) {
	if !j.unfenced {
		in.ledger.admit(j)
		return
	}
	in.roster.adoptOrphan(j)
	in.ledger.fence(j)
}

// onReadAgain is called before the stream is read once more, after a reconnect. The
// stream may have lost requests that this leader knows, and have others at their
// sequences, so what is known of sequences counts no more. It may also have requests that
// ended under an earlier leader, so this one reads them as it read those of its beginning.
func (in *intake) onReadAgain() {
	in.stream.rereads, in.stream.replayed = true, false
	in.stream.purger = purger{}
	for _, j := range in.ledger.jobs {
		j.stored = false
	}
}

// onReplayed is called when all existing requests of the stream have been read.
func (in *intake) onReplayed(connection uint64) {
	in.stream.replayed, in.stream.readOn = true, connection
	in.roster.stopOrphans()
	clear(in.ledger.unread)
	in.log.Debug("backlog replayed", "requests", len(in.ledger.jobs), "ms", time.Since(in.began).Milliseconds())
}

// onDepthQuery answers once all requests have been read. Until then the stream knows
// better.
func (in *intake) onDepthQuery(reply func(queue.Depth)) {
	if in.stream.replayed && in.leads() {
		reply(queue.Depth{Requests: len(in.ledger.jobs)})
	}
}

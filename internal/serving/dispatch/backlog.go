package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// freshFor is the age up to which a newly stored request cannot have ended
// before. It is well within the stream's window of deduplication.
const freshFor = time.Minute

// onEntry handles a message of the request stream.
func (l *leader) onEntry(e queue.Entry) {
	r := e.Request
	known := l.ledger.jobs[r.ID]
	if known != nil && known.stored && known.seq == e.Seq {
		return // the same message, read twice
	}
	l.stream.purger.add(e.Seq, e.Lasting)
	if known != nil && !known.stored {
		known.seq, known.stored = e.Seq, true
		if known.lost { // it only seemed to be: what ends it has not happened yet
			known.lost = false
			l.fill(known, e)
		}
		return
	}
	// The record of a request that has ended may be lost as well: takeOver looks.
	ended := l.stream.ended.has(r.ID)
	if r.ID == "" || known != nil || ended && !l.stream.rereads {
		l.stream.purger.end(e.Seq, time.Now()) // not a request, or stored twice
		return
	}
	now := time.Now()
	j := &job{seq: e.Seq, stored: true}
	l.fill(j, e)
	l.ledger.jobs[r.ID] = j
	if l.stream.replayed && !ended && now.Sub(r.Created).Abs() < freshFor {
		l.ledger.admit(j)
		return
	}
	l.takeOver(j)
}

// fill sets what a job has from its message.
func (l *leader) fill(j *job, e queue.Entry) {
	r := e.Request
	j.req, j.raw, j.cost, j.deadline = r, e.Raw, estimate(r), r.Created.Add(l.cfg.MaxWait)
	j.req.Body = nil // raw contains it
	for _, limit := range []time.Time{r.Deadline, r.EndBy} {
		if !limit.IsZero() && limit.Before(j.deadline) {
			j.deadline = limit
		}
	}
}

// onReadAgain is called before the stream is read once more, after a reconnect. The
// stream may have lost requests that this leader knows, and have others at their
// sequences, so what is known of sequences counts no more. It may also have requests that
// ended under an earlier leader, so this one reads them as it read those of its beginning.
func (l *leader) onReadAgain() {
	l.stream.rereads, l.stream.replayed = true, false
	l.stream.purger = purger{}
	for _, j := range l.ledger.jobs {
		j.stored = false
	}
}

// onReplayed is called when all existing requests of the stream have been read.
func (l *leader) onReplayed(connection uint64) {
	l.stream.replayed, l.stream.readOn = true, connection
	for id, o := range l.orphans {
		l.log.Info("stopping an attempt of a request that has ended", "request", id, "runner", o.runner)
		l.sendCancel(id, o.held.Request.Tenant, "ended")
	}
	clear(l.orphans)
	clear(l.ledger.unread)
	l.log.Debug("backlog replayed", "requests", len(l.ledger.jobs), "ms", time.Since(l.began).Milliseconds())
}

// onDepthQuery answers once all requests have been read. Until then the stream knows
// better.
func (l *leader) onDepthQuery(reply func(queue.Depth)) {
	if l.stream.replayed && l.leads() {
		reply(queue.Depth{Requests: len(l.ledger.jobs)})
	}
}

// takeOver continues a request that an earlier leader may know.
func (l *leader) takeOver(j *job) {
	j.phase = fencing
	j.unfenced = true
	if o, ok := l.orphans[j.req.ID]; ok { // a runner holds it
		delete(l.orphans, j.req.ID)
		if p := l.peers.byName[o.runner]; p != nil {
			l.adopt(o.runner, p, o.held)
			l.peers.offer(p) // one of its slots is no longer free
		}
	}
	l.ledger.fence(j)
}

package dispatch

import (
	"context"
	"maps"
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

const (
	// missingAfter is how long a request must be missing before it counts as lost. It is
	// shorter than the pause after which a silent client asks again, and longer than a
	// replica lags.
	missingAfter = 10 * time.Second
	// missingForgotten is how long its client must be silent to have gone.
	missingForgotten = time.Minute
	// maxMissing bounds what clients can make a leader remember. Clients whose requests do
	// not fit ask again.
	maxMissing = 4096
)

// onResume handles that the client of a request waits for frames. If the queue has lost
// the request with the tail of the stream, no other process answers the client.
func (in *intake) onResume(id string, from queue.Resume, now time.Time) {
	if from.Tenant == "" || !in.lacks(id) {
		delete(in.missing, id)
		return
	}
	m, known := in.missing[id]
	switch {
	case known && now.Sub(m.since) >= missingAfter:
		in.lost[id] = m.ref
	case !known && len(in.missing) < maxMissing:
		in.missing[id] = missing{queue.Ref{ID: id, Session: in.session, Tenant: from.Tenant}, now}
	}
}

// lacks reports whether a leader that has read the stream does not know a request. One
// that ended before the stream was read again may have lost its record.
func (in *intake) lacks(id string) bool {
	return in.stream.replayed && in.stream.isRead() && in.ledger.jobs[id] == nil && (in.stream.rereads || !in.stream.ended.has(id))
}

// endLost ends the requests that are lost. It looks at all messages in the stream first,
// once for all of them.
func (in *intake) endLost(now time.Time) {
	maps.DeleteFunc(in.missing, func(_ string, m missing) bool { return now.Sub(m.since) >= missingForgotten })
	if len(in.lost) == 0 || in.looking {
		return
	}
	found := in.lost
	in.lost, in.looking = map[string]queue.Ref{}, true
	in.do(func(ctx context.Context) error {
		return in.requests.OpenRequests(ctx, in.session, func(o queue.OpenRequest) bool {
			delete(found, o.ID)
			return len(found) > 0
		})
	}, func(err error) {
		in.looking = false
		if err != nil {
			in.log.Debug("cannot look for requests that are missing yet", "error", err)
			return // their clients ask again
		}
		for id, ref := range found {
			delete(in.missing, id)
			if in.lacks(id) {
				in.endMissing(ref, now)
			}
		}
	})
}

// endMissing records the end of a request that the queue has lost, unless it has ended.
func (in *intake) endMissing(ref queue.Ref, now time.Time) {
	in.log.Warn("the queue has lost a request", "request", ref.ID)
	j := &job{
		req:      queue.Request{ID: ref.ID, Session: ref.Session, Tenant: ref.Tenant, Created: now},
		deadline: now.Add(in.cfg.MaxWait), lost: true, unfenced: true,
	}
	in.ledger.jobs[ref.ID] = j
	in.begin(j)
}

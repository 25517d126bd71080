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

// A missing request has a client that waits, and this leader does not know it.
type missing struct {
	ref   queue.Ref
	since time.Time
}

// onResume handles that the client of a request waits for frames. If the queue has lost
// the request with the tail of the stream, no other process answers the client.
func (l *leader) onResume(id string, from queue.Resume, now time.Time) {
	if from.Tenant == "" || !l.lacks(id) {
		delete(l.missing, id)
		return
	}
	m, known := l.missing[id]
	switch {
	case known && now.Sub(m.since) >= missingAfter:
		l.lost[id] = m.ref
	case !known && len(l.missing) < maxMissing:
		l.missing[id] = missing{queue.Ref{ID: id, Session: l.name, Tenant: from.Tenant}, now}
	}
}

// lacks reports whether a leader that has read the stream does not know a request. One
// that ended before the stream was read again may have lost its record.
func (l *leader) lacks(id string) bool {
	return l.stream.replayed && l.stream.isRead() && l.ledger.jobs[id] == nil && (l.stream.rereads || !l.stream.ended.has(id))
}

// endLost ends the requests that are lost. It looks at all messages in the stream first,
// once for all of them.
func (l *leader) endLost(now time.Time) {
	maps.DeleteFunc(l.missing, func(_ string, m missing) bool { return now.Sub(m.since) >= missingForgotten })
	if len(l.lost) == 0 || l.looking {
		return
	}
	found := l.lost
	l.lost, l.looking = map[string]queue.Ref{}, true
	l.do(func(ctx context.Context) error {
		return l.requests.OpenRequests(ctx, l.name, func(o queue.OpenRequest) bool {
			delete(found, o.ID)
			return len(found) > 0
		})
	}, func(err error) {
		l.looking = false
		if err != nil {
			l.log.Debug("cannot look for requests that are missing yet", "error", err)
			return // their clients ask again
		}
		for id, ref := range found {
			delete(l.missing, id)
			if l.lacks(id) {
				l.endMissing(ref, now)
			}
		}
	})
}

// endMissing records the end of a request that the queue has lost, unless it has ended.
func (l *leader) endMissing(ref queue.Ref, now time.Time) {
	l.log.Warn("the queue has lost a request", "request", ref.ID)
	j := &job{
		req: queue.Request{ID: ref.ID, Session: ref.Session, Tenant: ref.Tenant, Created: now}, deadline: now.Add(l.cfg.MaxWait), lost: true,
	}
	l.ledger.jobs[ref.ID] = j
	l.takeOver(j)
}

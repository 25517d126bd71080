package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/dispatch/policy"
	"github.com/gorizond/koldun/internal/serving/queue"
)

const maxRecentIDs = 4096

// A leader leads one session while it holds the lease. The goroutine of its loop owns its
// state.
type leader struct {
	*loop
	*session
	records   records
	heldLease *heldLease
	offered   int // outcomes being offered

	queue        *policy.Queue
	jobs         map[string]*job
	peers        map[string]*peer
	orphans      map[string]orphan       // attempts on runners of requests not read yet
	unread       map[string][]groupedEnd // ends of requests not read yet
	earlyCancels *recentIDs              // cancelled before they were read
	ended        *recentIDs              // requests that ended under this leader
	missing      map[string]missing      // whose clients wait, and that it does not know
	lost         map[string]queue.Ref    // those that are missing for so long that they are lost
	looking      bool                    // whether the stream is being looked at for them
	purger       purger                  // messages of requests that ended
	began        time.Time
	replayed     bool   // the backlog has been read
	rereads      bool   // it is read once more, or was
	readOn       uint64 // the connection that it was read on
	lastActive   time.Time
	meanDuration time.Duration // average duration of an attempt
	reported     gaugeValues   // its contribution to the gauges
	// notifiedAt is the time of the last FrameQueued messages.
	notifiedAt time.Time
	unnotified bool // whether a waiting client never got one
}

// errIdle ends the leadership of a session without requests and runners.
var errIdle = errors.New("the session has neither requests nor runners")

// lead leads until ctx ends, the lease is lost or the session is idle, and returns
// the cause.
func lead(ctx context.Context, p *process, s *session, t *heldLease) error {
	ctx, cancel := context.WithCancel(ctx)
	term := &term{process: p, session: s.name, log: p.cfg.Logger.With("session", s.name, "epoch", t.lease.Epoch)}
	term.setEnd(t.until)
	now := time.Now()
	l := &leader{
		loop:         newLoop(ctx, term, t.lease.Epoch),
		records:      records{term},
		session:      s,
		heldLease:    t,
		queue:        policy.New(p.cfg.AffinityWait),
		jobs:         map[string]*job{},
		peers:        map[string]*peer{},
		orphans:      map[string]orphan{},
		unread:       map[string][]groupedEnd{},
		earlyCancels: newRecentIDs(maxRecentIDs),
		ended:        newRecentIDs(maxRecentIDs),
		missing:      map[string]missing{},
		lost:         map[string]queue.Ref{},
		began:        now,
		lastActive:   now,
	}
	unsubscribe, err := l.subscribe()
	if err != nil {
		cancel()
		t.release()
		return err
	}
	l.spawn(func(ctx context.Context) {
		l.requests.Backlog(ctx, s.name, queue.BacklogReader{
			Entry:   func(e queue.Entry) { l.post(func() { l.onEntry(e) }) },
			Again:   func() { l.post(l.onReadAgain) },
			Current: func(connection uint64) { l.post(func() { l.onReplayed(connection) }) },
		})
	})
	err = l.run(ctx)
	unsubscribe()
	cancel()
	l.goroutines.Wait()
	l.setGauges(gaugeValues{})
	if !fault.Is(err, fault.Conflict) {
		l.purgeLast()
		t.release()
	}
	return err
}

// subscribe subscribes to messages of runners and gateways.
func (l *leader) subscribe() (func(), error) {
	var stops []func()
	stopAll := func() {
		for _, stop := range stops {
			stop()
		}
	}
	b := l.cfg.Bus
	for _, subscribe := range []func() (func(), error){
		func() (func(), error) {
			return bus.ServeLater(b, names.EndSubject(l.name), func(_ string, r queue.EndReport, reply func(queue.Ack)) {
				l.post(func() { l.onReport(r, reply) })
			})
		},
		func() (func(), error) {
			return bus.Listen(b, names.FirstTokenSubject(l.name), func(_ string, mark queue.FirstToken) {
				l.post(func() { l.onFirstToken(mark) })
			})
		},
		func() (func(), error) {
			prefix := len(names.CancelSubject(l.name, ""))
			return bus.ServeLater(b, names.CancelSubject(l.name, "*"), func(subject string, c queue.CancelOrder, reply func(queue.Ack)) {
				l.post(func() { l.onCancel(subject[prefix:], c, reply) })
			})
		},
		func() (func(), error) {
			prefix := len(names.ResumeSubject(l.name, ""))
			return bus.Listen(b, names.ResumeSubject(l.name, "*"), func(subject string, from queue.Resume) {
				l.post(func() { l.onResume(subject[prefix:], from, time.Now()) })
			})
		},
		func() (func(), error) {
			return bus.ServeLater(b, names.DepthSubject(l.name), func(_ string, _ queue.DepthQuery, reply func(queue.Depth)) {
				l.post(func() { l.onDepthQuery(reply) })
			})
		},
		func() (func(), error) {
			prefix := len(names.MembersSubject(l.name, ""))
			return bus.ServeLater(b, names.MembersSubject(l.name, "*"), func(subject string, _ struct{}, reply func(queue.Members)) {
				if answer, ok := l.models.members(subject[prefix:]); ok {
					reply(answer)
				}
			})
		},
	} {
		stop, err := subscribe()
		if err != nil {
			stopAll()
			return nil, err
		}
		stops = append(stops, stop)
	}
	return stopAll, nil
}

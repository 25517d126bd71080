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
	heldLease *heldLease

	peers     *peers
	stream    *stream
	positions *positions
	ledger    *ledger

	orphans    map[string]orphan    // attempts on runners of requests not read yet
	missing    map[string]missing   // whose clients wait, and that it does not know
	lost       map[string]queue.Ref // those that are missing for so long that they are lost
	looking    bool                 // whether the stream is being looked at for them
	lastActive time.Time
	reported   gaugeValues // its contribution to the gauges
}

// errIdle ends the leadership of a session without requests and runners.
var errIdle = errors.New("the session has neither requests nor runners")

// newLeader returns the leader of a session.
func newLeader(loop *loop, s *session) *leader {
	q, jobs, r := policy.New(loop.cfg.AffinityWait), map[string]*job{}, records{loop.term}
	l := &leader{
		loop:       loop,
		session:    s,
		peers:      &peers{queue: q, byName: map[string]*peer{}},
		stream:     &stream{loop: loop, records: r, ended: newRecentIDs(maxRecentIDs)},
		positions:  &positions{loop: loop, queue: q, jobs: jobs},
		orphans:    map[string]orphan{},
		missing:    map[string]missing{},
		lost:       map[string]queue.Ref{},
		lastActive: loop.began,
	}
	l.ledger = &ledger{
		loop: loop, records: r, queue: q, peers: l.peers, stream: l.stream, positions: l.positions,
		jobs: jobs, unread: map[string][]groupedEnd{}, earlyCancels: newRecentIDs(maxRecentIDs),
	}
	return l
}

// lead leads until ctx ends, the lease is lost or the session is idle, and returns
// the cause.
func lead(ctx context.Context, p *process, s *session, t *heldLease) error {
	ctx, cancel := context.WithCancel(ctx)
	term := &term{process: p, session: s.name, log: p.cfg.Logger.With("session", s.name, "epoch", t.lease.Epoch), began: time.Now()}
	term.setEnd(t.until)
	l := newLeader(newLoop(ctx, term, t.lease.Epoch), s)
	l.heldLease = t
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
		l.stream.purgeLast()
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
				l.post(func() { l.ledger.onFirstToken(mark) })
			})
		},
		func() (func(), error) {
			prefix := len(names.CancelSubject(l.name, ""))
			return bus.ServeLater(b, names.CancelSubject(l.name, "*"), func(subject string, c queue.CancelOrder, reply func(queue.Ack)) {
				l.post(func() { l.ledger.onCancel(subject[prefix:], c, reply) })
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

package dispatch

import (
	"time"

	"github.com/gorizond/koldun/internal/serving/dispatch/policy"
	"github.com/gorizond/koldun/internal/serving/queue"
)

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
	roster    *roster
	intake    *intake

	lastActive time.Time
	reported   gaugeValues // its contribution to the gauges
}

// newLeader returns the leader of a session.
func newLeader(loop *loop, s *session) *leader {
	q, r := policy.New(loop.cfg.AffinityWait), records{loop.term}
	l := &leader{loop: loop, session: s, lastActive: loop.began}
	l.peers = &peers{queue: q, byName: map[string]*peer{}}
	l.stream = &stream{loop: loop, records: r, ended: newRecentIDs(maxRecentIDs)}
	jobs := map[string]*job{}
	l.positions = &positions{loop: loop, queue: q, jobs: jobs}
	l.ledger = &ledger{
		loop: loop, records: r, queue: q, peers: l.peers, stream: l.stream, positions: l.positions,
		jobs: jobs, unread: map[string][]groupedEnd{}, earlyCancels: newRecentIDs(maxRecentIDs),
	}
	l.roster = &roster{loop: loop, queue: q, peers: l.peers, stream: l.stream, ledger: l.ledger, orphans: map[string]orphan{}}
	l.intake = &intake{
		loop: loop, stream: l.stream, ledger: l.ledger, roster: l.roster,
		missing: map[string]missing{}, lost: map[string]queue.Ref{},
	}
	return l
}

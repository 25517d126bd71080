package dispatch

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// maxEpochs limits the sessions whose epochs are remembered.
const maxEpochs = 1 << 16

// A manager finds the sessions that need a leader, and keeps their state from the
// buckets.
type manager struct {
	*process
	loops sync.WaitGroup // of sessions

	mu       sync.Mutex     // guards the fields below and session.running
	start    func(*session) // starts a session's loop, set by run
	sessions map[string]*session
	leases   map[string]observedLease
	epochs   map[string]uint64 // newest epoch of each session
	synced   map[string]bool   // buckets that have been read
}

func newManager(cfg Config) *manager {
	return &manager{
		process:  newProcess(cfg),
		sessions: map[string]*session{},
		leases:   map[string]observedLease{},
		epochs:   map[string]uint64{},
		synced:   map[string]bool{},
	}
}

// keepStreams creates the streams and buckets, at first and after each loss of the
// connection, because the server may have lost its data. It retries until they
// exist.
func (m *manager) keepStreams(ctx context.Context) {
	for {
		reconnected := m.cfg.Bus.Reconnected()
		var again <-chan time.Time // a server that has just started may not answer yet
		if err := m.cfg.Bus.Ensure(ctx); err != nil && ctx.Err() == nil {
			m.cfg.Logger.Error("cannot create streams and buckets", "error", err)
			again = time.After(time.Second)
		}
		select {
		case <-ctx.Done():
			return
		case <-reconnected:
		case <-again:
		}
	}
}

// session returns a session, and starts its loop if it does not run.
func (m *manager) session(name string) *session {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[name]
	if s == nil {
		s = newSession(name)
		m.sessions[name] = s
	}
	s.wanted.Store(true)
	if !s.running && m.start != nil {
		m.start(s)
	}
	return s
}

// onOpen handles the list of sessions with requests.
func (m *manager) onOpen(open map[string]int) {
	for name := range open {
		m.session(name)
	}
}

// removeUnlessWanted ends a session's loop unless it is wanted again, and reports
// whether it has ended.
func (m *manager) removeUnlessWanted(s *session) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.wanted.Swap(false) {
		return false
	}
	s.running = false
	delete(m.sessions, s.name)
	return true
}

func (m *manager) onRunner(e bus.Event[queue.Runner]) {
	if e.Kind == bus.Synced {
		m.setSynced(names.RunnersBucket)
		return
	}
	name, runner, ok := strings.Cut(e.Key, ".")
	if !ok {
		return
	}
	if e.Kind == bus.Gone {
		m.mu.Lock()
		s := m.sessions[name]
		m.mu.Unlock()
		if s != nil {
			s.runnerGone(runner)
		}
		return
	}
	m.session(name).runnerChanged(runner, e.Value)
}

func (m *manager) onLease(e bus.Event[lease]) {
	if e.Kind == bus.Synced {
		m.setSynced(names.LeasesBucket)
		return
	}
	m.mu.Lock()
	if e.Kind == bus.Gone {
		delete(m.leases, e.Key)
	} else {
		m.leases[e.Key] = observedLease{lease: e.Value, revision: e.Revision, at: time.Now()}
		if len(m.epochs) > maxEpochs {
			clear(m.epochs) // epochs also grow without being remembered
		}
		m.epochs[e.Key] = max(m.epochs[e.Key], e.Value.Epoch)
	}
	s := m.sessions[e.Key]
	m.mu.Unlock()
	if s != nil {
		s.signalLease()
	}
}

func (m *manager) setSynced(bucket string) {
	m.mu.Lock()
	m.synced[bucket] = true
	sessions := make([]*session, 0, len(m.sessions))
	for _, s := range m.sessions {
		sessions = append(sessions, s)
	}
	m.mu.Unlock()
	for _, s := range sessions {
		s.signalLease()
	}
}

// isSynced reports whether all buckets have been read once.
func (m *manager) isSynced() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.synced[names.RunnersBucket] && m.synced[names.LeasesBucket]
}

func (m *manager) observedLease(session string) (observedLease, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l, ok := m.leases[session]
	return l, ok
}

func (m *manager) lastEpoch(session string) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.epochs[session]
}

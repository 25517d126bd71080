package sidecar

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/queue"
)

// A runner is the state of a sidecar. Everything below mu is guarded by it; no
// lock is held while anything blocks.
type runner struct {
	cfg      Config
	instance string
	// work makes the context of an attempt, which outlives Run's to drain.
	work     func() (context.Context, context.CancelCauseFunc)
	metrics  *metrics
	requests *queue.Queue
	resumes  *queue.Resumes
	changed  chan struct{} // cap 1: the record is to be written at once
	stirred  chan struct{} // cap 1: the record is to be written soon
	toReport chan struct{} // cap 1: there are ends to report
	suspect  chan struct{} // cap 1: the engine has to prove itself again
	begun    chan *attempt // cap 1: the attempt to work on
	hangs    atomic.Bool   // it was silent for longer than is allowed

	mu         sync.Mutex
	version    uint64
	ready      bool // a real token came out of the engine
	draining   bool // Run's context has ended
	resting    bool // told to take no more work until told otherwise
	fence      fence
	current    *attempt
	past       past // of attempts whose frames can be sent again
	affinity   string
	honours    []string            // hints that the engine honours, once ready; never changed in place
	operations []openai.Operation  // that the engine lists, once ready; never changed in place
	ends       []*queue.AttemptEnd // not acknowledged yet, oldest first; never changed
	idle       chan struct{}       // closed while current is nil
	reported   chan struct{}       // closed while ends is empty
}

func newRunner(cfg Config) *runner {
	requests := queue.New(cfg.Bus)
	r := &runner{
		cfg:      cfg,
		instance: rand.Text(),
		metrics:  newMetrics(),
		requests: requests,
		resumes:  requests.Resumes(),
		changed:  make(chan struct{}, 1),
		stirred:  make(chan struct{}, 1),
		toReport: make(chan struct{}, 1),
		suspect:  make(chan struct{}, 1),
		begun:    make(chan *attempt, 1),
		idle:     make(chan struct{}),
		reported: make(chan struct{}),
	}
	close(r.idle)
	close(r.reported)
	return r
}

// A fence lets the newest leader pass, and its messages in their order only.
type fence struct {
	epoch  uint64
	seq    uint64
	synced bool // the leader of epoch knows what this runner holds
}

// pass reports whether a message is newer than all before.
func (f *fence) pass(epoch, seq uint64) bool {
	if epoch < f.epoch || epoch == f.epoch && seq <= f.seq {
		return false
	}
	if epoch > f.epoch {
		f.synced = false
	}
	f.epoch, f.seq = epoch, seq
	return true
}

// state is called with mu held.
func (r *runner) state() queue.RunnerState {
	switch {
	case r.draining, r.resting:
		return queue.RunnerDraining
	case r.current != nil:
		return queue.RunnerBusy
	case !r.ready:
		return queue.RunnerStarting
	}
	return queue.RunnerIdle
}

// record is called with mu held.
func (r *runner) record() queue.Runner {
	rec := queue.Runner{
		Name:       r.cfg.Runner,
		Session:    r.cfg.Session,
		Model:      r.cfg.Model,
		State:      r.state(),
		Affinity:   r.affinity,
		Honours:    r.honours,
		Operations: r.operations,
		Ends:       r.unreported(),
		Instance:   r.instance,
		Version:    r.version,
	}
	if a := r.current; a != nil {
		rec.Requests = []string{a.assignment.Request.ID}
		rec.Held = []queue.HeldAttempt{a.held()}
	}
	return rec
}

// status is called with mu held.
func (r *runner) status() queue.RunnerStatus {
	return queue.RunnerStatus{Instance: r.instance, Version: r.version, State: r.state(), Affinity: r.affinity}
}

// touch is called with mu held, after a change of the record that others must
// know at once.
func (r *runner) touch() {
	r.step()
	poke(r.changed)
}

// stir is called with mu held, after a change that comes with each request: the
// leader hears of it from answers and reports.
func (r *runner) stir() {
	r.step()
	poke(r.stirred)
}

func (r *runner) step() {
	r.version++
	r.metrics.setState(r.state())
}

// poke wakes whoever waits on a channel of capacity 1.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

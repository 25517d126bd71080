package sidecar

import (
	"crypto/rand"
	"reflect"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// A runner is what a sidecar announces, and what decides whether it takes an assignment. mu
// guards the fields below it and what is in them, so that each record, reply and report shows
// all of them at one version. It is never held while blocking.
type runner struct {
	cfg          Config
	instance     string
	metrics      *metrics
	announceNow  chan struct{} // cap 1: the record is to be written at once
	announceSoon chan struct{} // cap 1: the record is to be written soon
	suspect      chan struct{} // cap 1: the engine has to prove itself again

	mu           sync.Mutex
	version      uint64
	engine       engineState
	draining     bool           // Run's context has ended
	drainOrdered bool           // whether a drain order is in effect
	traffic      *queue.Traffic // never changed in place
	trafficKnown bool           // whether the registry was read, or did not answer in time
	slots        slots
	outbox       outbox
}

func newRunner(cfg Config) *runner {
	r := &runner{
		cfg:          cfg,
		instance:     rand.Text(),
		metrics:      newMetrics(),
		traffic:      cfg.Traffic,
		trafficKnown: cfg.Member == "",
		announceNow:  make(chan struct{}, 1),
		announceSoon: make(chan struct{}, 1),
		suspect:      make(chan struct{}, 1),
		slots:        newSlots(cfg.Slots),
		outbox:       newOutbox(),
	}
	r.metrics.slots.Set(float64(cfg.Slots))
	r.metrics.registry.MustRegister(cfg.Bus.Metrics()...)
	return r
}

// finish frees the slot of an attempt, which ended with err.
func (r *runner) finish(a *attempt, end queue.AttemptEnd, healthy bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slots.end(a)
	r.engine.attempted(err, healthy, r.slots.generatesSince(a.midSilence(time.Now())))
	end.FirstToken = a.first
	r.outbox.add(&end)
	r.metrics.attempt(end)
	if healthy {
		r.changedByRequest()
	} else {
		r.slots.caches = nil
		raise(r.suspect)
		r.changed()
	}
	raise(r.outbox.added)
}

// state is called with mu held.
func (r *runner) state() queue.RunnerState {
	switch {
	case r.draining, r.drainOrdered:
		return queue.RunnerDraining
	case !r.engine.ready, !r.trafficKnown:
		return queue.RunnerStarting
	case len(r.slots.running) > 0:
		return queue.RunnerBusy
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
		Progress:   r.engine.progress,
		Refusal:    r.engine.refusal(),
		Affinity:   r.slots.caches.latest(),
		Honours:    r.engine.honours,
		Operations: r.engine.operations,
		Features:   r.engine.features,
		Traffic:    r.traffic,
		Ends:       r.outbox.copies(),
		Instance:   r.instance,
		Version:    r.version,
	}
	if r.slots.all > 1 {
		rec.Slots, rec.Taken, rec.Affinities = r.slots.all, r.slots.taken, r.slots.caches.conversations()
	}
	for _, a := range r.slots.running {
		rec.Requests = append(rec.Requests, a.assignment.Request.ID)
		rec.Held = append(rec.Held, a.held())
	}
	return rec
}

// status is called with mu held.
func (r *runner) status() queue.RunnerStatus {
	s := queue.RunnerStatus{Instance: r.instance, Version: r.version, State: r.state(), Affinity: r.slots.caches.latest()}
	if r.slots.all > 1 {
		s.Busy, s.Affinities = r.slots.busy(), r.slots.caches.conversations()
	}
	return s
}

func (r *runner) isReady() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.engine.ready
}

// setReady is called with mu held.
func (r *runner) setReady(ready bool) {
	if r.engine.setReady(ready) {
		r.slots.caches = nil // the warm-up replaced a conversation in the prompt cache
		r.changed()
	}
}

// changed requires mu. It is called after a change of the record that others must
// know at once.
func (r *runner) changed() {
	r.step()
	raise(r.announceNow)
}

// changedByRequest requires mu. It is called after a change that each request
// causes. The leader learns it from answers and reports, so the record may wait.
func (r *runner) changedByRequest() {
	r.step()
	raise(r.announceSoon)
}

func (r *runner) step() {
	r.version++
	r.metrics.setState(r.state())
	r.metrics.running.Set(float64(len(r.slots.running)))
}

func (r *runner) setTraffic(t *queue.Traffic) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !reflect.DeepEqual(r.traffic, t) {
		r.traffic = t
		r.changed()
	}
}

func (r *runner) setTrafficKnown() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.trafficKnown {
		r.trafficKnown = true
		r.changed()
	}
}

// raise sends a signal, unless one is pending.
func raise(signal chan<- struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

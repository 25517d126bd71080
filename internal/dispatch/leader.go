package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/dispatch/policy"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

const (
	tickEvery = 250 * time.Millisecond
	// replayPatience is how long a new leader waits for the runners it knows
	// of to say what they hold, before it gives work to those that did.
	replayPatience = 2 * time.Second
	inboxSize      = 1024
	maxParallel    = 64 // calls to the streams at once
	maxRemembered  = 4096
)

// A leader leads one session for one tenure. All its state belongs to the
// goroutine of run; everything else sends it functions to call.
type leader struct {
	*session
	cfg    Config
	log    *slog.Logger
	tenure *tenure
	epoch  uint64
	until  atomic.Pointer[time.Time] // of the tenure, for what runs beside
	over   <-chan struct{}           // closed when the lead ends
	// spawn calls a function in a goroutine that the lead's end waits for, with
	// the context that ends then.
	spawn   func(func(ctx context.Context))
	inbox   chan func()
	helpers sync.WaitGroup
	slots   chan struct{} // one for each parallel call

	queue    *policy.Queue
	jobs     map[string]*job
	peers    map[string]*peer
	orphans  map[string]orphan           // what runners hold of requests not read yet
	unread   map[string][]bus.AttemptEnd // ends of requests not read yet
	early    *memory                     // cancelled before they were read
	ended    *memory                     // requests that ended under this leader
	began    time.Time
	replayed bool // the backlog has been read
	busyAt   time.Time
	pace     time.Duration // how long an attempt takes, on average
	census   census        // what it has added to the gauges
	// noticedAt is when those who wait were last told their places.
	noticedAt time.Time
	// challenge is the epoch to lead by from the next renewal on, when a
	// runner has seen a newer one than ours.
	challenge uint64
	err       error // set: the lead ends
}

// lead leads until ctx ends, the lease is lost or there is nothing to lead. It
// returns why.
func lead(ctx context.Context, s *session, t *tenure) error {
	ctx, cancel := context.WithCancel(ctx)
	now := time.Now()
	l := &leader{
		session: s,
		cfg:     s.m.cfg,
		log:     s.m.cfg.Logger.With("session", s.name, "epoch", t.lease.Epoch),
		tenure:  t,
		epoch:   t.lease.Epoch,
		over:    ctx.Done(),
		inbox:   make(chan func(), inboxSize),
		slots:   make(chan struct{}, maxParallel),
		queue:   policy.New(s.m.cfg.AffinityWait),
		jobs:    map[string]*job{},
		peers:   map[string]*peer{},
		orphans: map[string]orphan{},
		unread:  map[string][]bus.AttemptEnd{},
		early:   newMemory(maxRemembered),
		ended:   newMemory(maxRemembered),
		began:   now,
		busyAt:  now,
	}
	until := t.until
	l.until.Store(&until)
	l.spawn = func(f func(context.Context)) { l.helpers.Go(func() { f(ctx) }) }
	unsubscribe, err := l.subscribe()
	if err != nil {
		cancel()
		t.release()
		return err
	}
	l.spawn(func(ctx context.Context) {
		l.cfg.Bus.Backlog(ctx, s.name,
			func(e bus.Entry) { l.post(func() { l.onEntry(e) }) },
			func() { l.post(l.onReplayed) })
	})
	err = l.run(ctx)
	unsubscribe()
	cancel()
	l.helpers.Wait()
	l.report(true)
	if !fault.Is(err, fault.Conflict) {
		t.release()
	}
	return err
}

// subscribe hears the runners and those who cancel.
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
			return bus.ServeLater(b, names.EndSubject(l.name), func(_ string, r bus.EndReport, reply func(bus.Ack)) {
				l.post(func() { l.onReport(r, reply) })
			})
		},
		func() (func(), error) {
			return bus.Listen(b, names.MarkSubject(l.name), func(_ string, mark bus.Mark) {
				l.post(func() { l.onMark(mark) })
			})
		},
		func() (func(), error) {
			prefix := len(names.CancelSubject(l.name, ""))
			return bus.ServeLater(b, names.CancelSubject(l.name, "*"), func(subject string, c bus.CancelOrder, reply func(bus.Ack)) {
				l.post(func() { l.onCancel(subject[prefix:], c, reply) })
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

// post has f called by the leader's goroutine, soon, unless the lead ends.
func (l *leader) post(f func()) {
	select {
	case l.inbox <- f:
	case <-l.over:
	}
}

// do calls work in a goroutine of its own, one of maxParallel, and then done
// in the leader's.
func (l *leader) do(work func(ctx context.Context) error, done func(err error)) {
	l.spawn(func(ctx context.Context) {
		select {
		case l.slots <- struct{}{}:
			defer func() { <-l.slots }()
		case <-ctx.Done():
			return
		}
		err := work(ctx)
		if done != nil && ctx.Err() == nil {
			l.post(func() { done(err) })
		}
	})
}

// call is do for questions to runners, of which each is asked one at a time.
func (l *leader) call(work func(ctx context.Context) error, done func(err error)) {
	l.spawn(func(ctx context.Context) {
		err := work(ctx)
		l.post(func() { done(err) })
	})
}

func (l *leader) run(ctx context.Context) error {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	wake := time.NewTimer(0)
	defer wake.Stop()
	renew := time.NewTicker(renewEvery(l.cfg.LeaseTTL))
	defer renew.Stop()
	renewed := make(chan renewal, 1)
	renewing := false
	startRenewal := func() {
		if renewing {
			return
		}
		renewing = true
		renew := l.tenure.renew(l.challenge)
		l.spawn(func(ctx context.Context) { renewed <- renew(ctx) })
	}
	l.changes(true, l.onRunner)
	for l.err == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case f := <-l.inbox:
			// What has come while this process was stopped is another's now.
			if l.leads() {
				f()
				l.drainInbox()
			}
		case <-l.news:
			if l.leads() {
				l.changes(false, l.onRunner)
			}
		case <-tick.C:
			if l.leads() {
				l.onTick(time.Now())
			}
		case <-wake.C:
		case <-renew.C:
			startRenewal()
		case r := <-renewed:
			renewing = false
			if fault.Is(r.err, fault.Conflict) {
				return fmt.Errorf("the lease was taken: %w", r.err)
			}
			l.tenure.apply(r)
			until := l.tenure.until
			l.until.Store(&until)
			l.setEpoch(l.tenure.lease.Epoch)
		}
		now := time.Now()
		if !l.leads() {
			return fault.Errorf(fault.Transient, "the lease could not be renewed in time")
		}
		if l.challenge > l.epoch {
			startRenewal()
		}
		l.expire(now)
		l.schedule(now)
		if at := l.queue.Wake(); !at.IsZero() {
			wake.Reset(max(time.Until(at), time.Millisecond))
		}
	}
	return l.err
}

// leads reports whether nobody else can lead yet. It may be called from any
// goroutine.
func (l *leader) leads() bool { return lasts(*l.until.Load(), time.Now()) }

// drainInbox handles what else has come before looking at the queue again.
func (l *leader) drainInbox() {
	for range inboxSize {
		if !l.leads() {
			return
		}
		select {
		case f := <-l.inbox:
			f()
		default:
			return
		}
	}
}

// open reports whether work may be given out: a leader first learns what the
// runners hold, or it might give the same request out twice.
func (l *leader) open(now time.Time) bool {
	if !l.replayed {
		return false
	}
	if back := l.m.reconnected(); l.began.Sub(back) < settleTime && !l.settled(now) {
		return false // runners that hold requests may not have come back yet
	}
	if now.Sub(l.began) > replayPatience {
		return true
	}
	for _, p := range l.peers {
		if !p.synced {
			return false
		}
	}
	return true
}

// schedule gives out all the work that can be.
func (l *leader) schedule(now time.Time) {
	// A process that was stopped and goes on must not act on a lease it has lost.
	if l.queue.Len() == 0 || !l.leads() || !l.cfg.Bus.Connected() || !l.open(now) {
		return
	}
	for {
		next, runner, ok := l.queue.Next(now)
		if !ok {
			return
		}
		if j := l.jobs[next.ID]; !l.silent(j) {
			l.assign(j, l.peers[runner])
		}
	}
}

// onTick does what is due from time to time.
func (l *leader) onTick(now time.Time) {
	for name, p := range l.peers {
		if j := l.jobs[p.job]; j != nil && j.cancelled && j.phase == running {
			l.tellCancel(j.req.ID, j.req.Tenant, "again") // it may have been away
		}
		if now.Before(p.blocked) {
			continue
		}
		if (!p.synced || p.gone) && !p.syncing {
			l.sync(name, p)
			continue
		}
		l.offer(p)
	}
	l.early.forget(now.Add(-time.Minute))
	l.notice(now)
	l.report(false)
	if len(l.jobs) > 0 || len(l.peers) > 0 || l.hasRunners() || !l.replayed {
		l.busyAt = now
		l.m.settle(l.session)
	}
	if now.Sub(l.busyAt) >= l.cfg.IdleAfter {
		l.err = errIdle
	}
}

// offer tells the queue how a runner stands.
func (l *leader) offer(p *peer) {
	affinity := ""
	if j := l.jobs[p.job]; j != nil {
		affinity = j.req.Affinity
	}
	r, ok := p.usable(time.Now(), affinity)
	if !ok {
		l.queue.RemoveRunner(p.rec.Name)
		return
	}
	l.queue.SetRunner(r)
}

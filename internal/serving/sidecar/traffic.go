package sidecar

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

const (
	// trafficWait limits how long a runner waits for the weight of its group, which may
	// be zero, before it takes requests.
	trafficWait = 10 * time.Second
	// trafficKept is how long a runner keeps weight and fallback when the registry
	// no longer lists its group. A claim that is deleted may leave the registry before
	// its pods end, and the default gives a drained one or a fallback a full share.
	trafficKept = 30 * time.Second
)

// A trafficWatcher keeps the traffic of its runner as the registry says. mu guards the
// fields below it, and is held while it takes the runner's mu.
type trafficWatcher struct {
	r *runner

	mu     sync.Mutex
	listed bool        // the runner's traffic is the registry's
	timer  *time.Timer // not nil while the registry no longer lists it
}

// watch follows weight and fallback of the runner's group in the registry,
// until ctx ends. So a change of them restarts no engine. It asks the leader of the session,
// because a runner may not read buckets: JetStream would send the answer to any subject that
// the runner names.
func (w *trafficWatcher) watch(ctx context.Context) {
	late := time.AfterFunc(trafficWait, w.r.setTrafficKnown)
	defer late.Stop()
	defer w.stop()
	cfg := &w.r.cfg
	namespace, name, _ := strings.Cut(cfg.Model, "/")
	model := names.ModelKey(namespace, name)
	bus.WatchAnswer(ctx, cfg.Bus, names.MembersSubject(cfg.Session, model), names.KVSubject(names.ModelsBucket, model), w.onMembers)
}

// onMembers handles what the model's record says.
func (w *trafficWatcher) onMembers(m queue.Members) {
	group := w.r.cfg.Member
	if member, ok := m.Members[group]; ok {
		w.list(queue.Traffic{Group: group, Weight: member.Weight, Fallback: member.Fallback})
	} else {
		w.unlist()
	}
	w.r.setTrafficKnown()
}

// list announces what the registry says of the runner's group.
func (w *trafficWatcher) list(t queue.Traffic) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopTimer()
	w.listed = true
	w.r.setTraffic(&t)
}

// unlist returns to the default after trafficKept, unless the group is listed by
// then.
func (w *trafficWatcher) unlist() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.listed || w.timer != nil {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(trafficKept, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.timer == timer { // not revoked meanwhile
			w.timer, w.listed = nil, false
			w.r.setTraffic(w.r.cfg.Traffic)
		}
	})
	w.timer = timer
}

func (w *trafficWatcher) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopTimer()
}

// stopTimer is called with mu held.
func (w *trafficWatcher) stopTimer() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

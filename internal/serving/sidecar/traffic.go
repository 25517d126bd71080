package sidecar

import (
	"context"
	"reflect"
	"strings"
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

// watchTraffic follows weight and fallback of the runner's group in the registry,
// until ctx ends. So a change of them restarts no engine. It asks the leader of the session,
// because a runner may not read buckets: JetStream would send the answer to any subject that
// the runner names.
func (r *runner) watchTraffic(ctx context.Context) {
	late := time.AfterFunc(trafficWait, r.setTrafficKnown)
	defer late.Stop()
	defer r.stopTrafficKept()
	namespace, name, _ := strings.Cut(r.cfg.Model, "/")
	model := names.ModelKey(namespace, name)
	bus.WatchAnswer(ctx, r.cfg.Bus, names.MembersSubject(r.cfg.Session, model), names.KVSubject(names.ModelsBucket, model), r.onMembers)
}

// onMembers handles what the model's record says.
func (r *runner) onMembers(m queue.Members) {
	if member, ok := m.Members[r.cfg.Member]; ok {
		r.listed(queue.Traffic{Group: r.cfg.Member, Weight: member.Weight, Fallback: member.Fallback})
	} else {
		r.unlisted()
	}
	r.setTrafficKnown()
}

// listed announces what the registry says of the runner's group.
func (r *runner) listed(t queue.Traffic) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endTrafficKept()
	r.trafficListed = true
	r.setTraffic(&t)
}

// unlisted returns to the default after trafficKept, unless the group is listed by
// then.
func (r *runner) unlisted() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.trafficListed || r.trafficTimer != nil {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(trafficKept, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.trafficTimer == timer { // not revoked meanwhile
			r.trafficTimer, r.trafficListed = nil, false
			r.setTraffic(r.cfg.Traffic)
		}
	})
	r.trafficTimer = timer
}

func (r *runner) stopTrafficKept() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endTrafficKept()
}

// endTrafficKept is called with mu held.
func (r *runner) endTrafficKept() {
	if r.trafficTimer != nil {
		r.trafficTimer.Stop()
		r.trafficTimer = nil
	}
}

// setTraffic is called with mu held.
func (r *runner) setTraffic(t *queue.Traffic) {
	if reflect.DeepEqual(r.traffic, t) {
		return
	}
	r.traffic = t
	r.changed()
}

func (r *runner) setTrafficKnown() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.trafficKnown {
		r.trafficKnown = true
		r.changed()
	}
}

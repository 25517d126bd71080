package sidecar

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/queue"
)

// trafficWait limits how long a runner takes no requests because the registry, which
// may give its group no weight, does not answer.
const trafficWait = 10 * time.Second

// watchTraffic follows weight and fallback of the runner's group in the registry,
// until ctx ends. So a change of them restarts no engine.
func (r *runner) watchTraffic(ctx context.Context) {
	late := time.AfterFunc(trafficWait, r.setTrafficKnown)
	defer late.Stop()
	namespace, name, _ := strings.Cut(r.cfg.Model, "/")
	bus.Watch(ctx, r.cfg.Bus, names.ModelsBucket, names.ModelKey(namespace, name), func(e bus.Event[queue.Members]) {
		switch e.Kind {
		case bus.Changed:
			r.setTraffic(r.trafficOf(e.Value))
		case bus.Gone:
			r.setTraffic(r.cfg.Traffic)
		case bus.Synced:
			r.setTrafficKnown()
		}
	})
}

// trafficOf returns what a model's record says of the runner's group.
func (r *runner) trafficOf(m queue.Members) *queue.Traffic {
	member, ok := m.Members[r.cfg.Member]
	if !ok {
		return r.cfg.Traffic
	}
	return &queue.Traffic{Group: r.cfg.Member, Weight: member.Weight, Fallback: member.Fallback}
}

func (r *runner) setTraffic(t *queue.Traffic) {
	r.mu.Lock()
	defer r.mu.Unlock()
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

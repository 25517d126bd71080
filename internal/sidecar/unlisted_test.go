package sidecar

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/queue"
)

// A runner whose group leaves the registry keeps weight and fallback for a while,
// because its claim may be being deleted.
func TestUnlistedTrafficIsKept(t *testing.T) {
	type event = bus.Event[queue.Members]
	gone := event{Kind: bus.Gone}
	drained := event{Value: queue.Members{Members: map[string]queue.Member{"old": {Weight: 0}}}}
	raised := event{Value: queue.Members{Members: map[string]queue.Member{"old": {Weight: 7, Fallback: true}}}}
	others := event{Value: queue.Members{Members: map[string]queue.Member{"new": {Weight: 5}}}}
	zero := &queue.Traffic{Group: "old"}
	seven := &queue.Traffic{Group: "old", Weight: 7, Fallback: true}
	for name, c := range map[string]struct {
		events      []event // ten seconds apart
		kept, after *queue.Traffic
	}{
		"Listed":        {[]event{drained}, zero, zero},
		"NeverListed":   {[]event{others, gone}, nil, nil},
		"RecordGone":    {[]event{drained, gone}, zero, nil},
		"MemberGone":    {[]event{drained, others}, zero, nil},
		"BothGone":      {[]event{drained, others, gone}, zero, nil},
		"ListedAgain":   {[]event{drained, others, raised}, seven, seven},
		"ListedAndGone": {[]event{drained, gone, raised, gone}, seven, nil},
		"ListedLate":    {[]event{gone, others, raised, others}, seven, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRunner(Config{Bus: &bus.Bus{}, Member: "old", Slots: 1})
				defer r.stopTrafficKept()
				traffic := func() *queue.Traffic {
					r.mu.Lock()
					defer r.mu.Unlock()
					return r.traffic
				}
				for i, e := range c.events {
					if i > 0 {
						time.Sleep(10 * time.Second)
					}
					r.onModel(e)
				}
				time.Sleep(9 * time.Second)
				if diff := cmp.Diff(c.kept, traffic()); diff != "" {
					t.Error(diff)
				}
				time.Sleep(trafficKept + time.Second)
				if diff := cmp.Diff(c.after, traffic()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

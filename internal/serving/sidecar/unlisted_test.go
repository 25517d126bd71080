package sidecar

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// A runner whose group leaves the registry keeps weight and fallback for a while,
// because its claim may be being deleted.
func TestUnlistedTrafficIsKept(t *testing.T) {
	reply := func(name string, m queue.Member) queue.Members {
		return queue.Members{Members: map[string]queue.Member{name: m}}
	}
	gone := queue.Members{}
	drained, raised := reply("old", queue.Member{}), reply("old", queue.Member{Weight: 7, Fallback: true})
	others := reply("new", queue.Member{Weight: 5})
	zero := &queue.Traffic{Group: "old"}
	seven := &queue.Traffic{Group: "old", Weight: 7, Fallback: true}
	for name, c := range map[string]struct {
		replies     []queue.Members // ten seconds apart
		kept, after *queue.Traffic
	}{
		"Listed":        {[]queue.Members{drained}, zero, zero},
		"NeverListed":   {[]queue.Members{others, gone}, nil, nil},
		"RecordGone":    {[]queue.Members{drained, gone}, zero, nil},
		"MemberGone":    {[]queue.Members{drained, others}, zero, nil},
		"BothGone":      {[]queue.Members{drained, others, gone}, zero, nil},
		"ListedAgain":   {[]queue.Members{drained, others, raised}, seven, seven},
		"ListedAndGone": {[]queue.Members{drained, gone, raised, gone}, seven, nil},
		"ListedLate":    {[]queue.Members{gone, others, raised, others}, seven, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRunner(Config{Bus: &bus.Bus{}, Member: "old", Slots: 1})
				w := &trafficWatcher{r: r}
				defer w.stop()
				traffic := func() *queue.Traffic {
					r.mu.Lock()
					defer r.mu.Unlock()
					return r.traffic
				}
				for i, m := range c.replies {
					if i > 0 {
						time.Sleep(10 * time.Second)
					}
					w.onMembers(m)
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

package serving_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/waittest"
)

// TestFloodStarvesNobody has one tenant ask far more than it may while all
// engines are busy, and two others a little after that. The leader is killed
// while everybody waits. What counts then is in which order they are served, so
// no time is measured.
func TestFloodStarvesNobody(t *testing.T) {
	t.Parallel()
	const flood, most, little = 60, 40, 5
	flooder, amber, birch, plug := newTenant("flooder"), newTenant("amber"), newTenant("birch"), newTenant("plug")
	s := newStack(t, plan{
		gateways: 1, dispatchers: 2, runners: 1, gatewayArgs: []string{"--max-per-tenant=" + strconv.Itoa(most)},
		tenants: []tenant{flooder, amber, birch, plug},
	})
	h := &history{}
	c := &crowd{s: s, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: flood}}}

	occupied, unplug := context.WithCancel(t.Context())
	defer unplug()
	c.ask(occupied, plug, 1, wish{N: 1 << 17, Every: 5 * time.Millisecond})
	s.waiting(t, 1, 0)
	c.ask(t.Context(), flooder, flood, wish{N: 3})
	s.waiting(t, 1+most, most)
	c.ask(t.Context(), amber, little, wish{N: 3})
	c.ask(t.Context(), birch, little, wish{N: 3})
	s.waiting(t, 1+most+2*little, most+2*little)
	h.disturb(false, s.leader(t).kill)
	s.waiting(t, 1+most+2*little, most+2*little)
	unplug()

	h.entries = c.wait()
	s.settle(t, h)
	waited := contest{wishes: map[string]tenant{}}
	answered := map[string]int{}
	for _, e := range h.entries {
		if e.verdict == ok {
			waited.wishes[e.wish.ID] = e.tenant
			answered[e.tenant.name]++
		}
	}
	for name, want := range map[string]int{"flooder": most, "amber": little, "birch": little} {
		if answered[name] != want {
			t.Errorf("%d requests of %s were answered, want %d", answered[name], name, want)
		}
	}
	h.contests = []contest{waited}
	h.judge(t, endsOnce, oneGeneration, nothingLost, nothingRead, nobodyStarves)
}

// waiting waits until the stream holds so many requests, and the leader knows
// of so many that nobody works on.
func (s *stack) waiting(t *testing.T, stored, queued int) {
	t.Helper()
	b := s.bus()
	defer b.Close()
	waittest.Until(t, fmt.Sprintf("%d requests to be stored", stored), func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		stream, err := b.JetStream().Stream(ctx, names.RequestStream)
		return err == nil && stream.CachedInfo().State.Msgs == uint64(stored)
	})
	waittest.Until(t, fmt.Sprintf("a leader to know of %d requests that wait", queued), func() bool {
		for _, addr := range s.health {
			if metric(t, addr, "koldun_dispatcher_sessions") == "1" && metric(t, addr, "koldun_dispatcher_running") == "1" &&
				metric(t, addr, "koldun_dispatcher_queued") == strconv.Itoa(queued) {
				return true
			}
		}
		return false
	})
}

// A crowd is clients that ask all at once.
type crowd struct {
	s      *stack
	client *http.Client
	wg     sync.WaitGroup

	mu      sync.Mutex
	entries []entry
}

// ask asks n times for the same, which gets an id of its own each time.
func (c *crowd) ask(ctx context.Context, from tenant, n int, w wish) {
	for i := range n {
		own := wish{ID: fmt.Sprintf("%s-%d", from.mark, i), N: w.N, Every: w.Every}
		c.wg.Go(func() {
			e := question{wish: own, from: from, stream: true}.ask(ctx, c.client, c.s.urls[0])
			c.mu.Lock()
			defer c.mu.Unlock()
			c.entries = append(c.entries, e)
		})
	}
}

func (c *crowd) wait() []entry {
	c.wg.Wait()
	return c.entries
}

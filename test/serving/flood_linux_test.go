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
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

// TestFloodStarvesNoTenant lets one tenant send far more requests than its limit
// while all engines are busy, and two others a few requests later. The leader is
// killed while all wait. The test checks the order in which they are served, not
// times.
func TestFloodStarvesNoTenant(t *testing.T) {
	t.Parallel()
	const flood, most, little = 60, 40, 5
	flooder, amber, birch, plug := history.NewTenant("flooder"), history.NewTenant("amber"), history.NewTenant("birch"), history.NewTenant("plug")
	s := newStack(t, plan{
		gateways: 1, dispatchers: 2, runners: 1, gatewayArgs: []string{"--max-per-tenant=" + strconv.Itoa(most)},
		tenants: []history.Tenant{flooder, amber, birch, plug},
	})
	h := &history.History{}
	c := &burst{s: s, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: flood}}}

	occupied, unplug := context.WithCancel(t.Context())
	defer unplug()
	c.send(occupied, plug, 1, history.Prompt{N: 1 << 17, Every: 5 * time.Millisecond})
	s.waiting(t, 1, 0)
	c.send(t.Context(), flooder, flood, history.Prompt{N: 3})
	s.waiting(t, 1+most, most)
	c.send(t.Context(), amber, little, history.Prompt{N: 3})
	c.send(t.Context(), birch, little, history.Prompt{N: 3})
	s.waiting(t, 1+most+2*little, most+2*little)
	h.Disturb(false, s.leader(t).kill)
	s.waiting(t, 1+most+2*little, most+2*little)
	unplug()

	h.Entries = c.wait()
	s.collect(t, h)
	waited := history.Backlog{Prompts: map[string]history.Tenant{}}
	answered := map[string]int{}
	for _, e := range h.Entries {
		if e.Verdict == history.OK {
			waited.Prompts[e.Prompt.ID] = e.Tenant
			answered[e.Tenant.Name]++
		}
	}
	for name, want := range map[string]int{"flooder": most, "amber": little, "birch": little} {
		if answered[name] != want {
			t.Errorf("%d requests of %s were answered, want %d", answered[name], name, want)
		}
	}
	h.Backlogs = []history.Backlog{waited}
	h.Verify(t, history.EndsOnce, history.OneGeneration, history.NothingLost, history.TenantsIsolated, history.NoStarvation)
}

// waiting waits until the stream holds the stored requests and the leader has
// counted the queued ones.
func (s *stack) waiting(t *testing.T, stored, queued int) {
	t.Helper()
	b := s.broker.bus()
	defer b.Close()
	waittest.Until(t, fmt.Sprintf("%d requests to be stored", stored), func() bool { return storedOn(t, b) == stored })
	waittest.Until(t, fmt.Sprintf("a leader to count %d queued requests", queued), func() bool {
		for _, addr := range s.health {
			if metric(t, addr, "koldun_dispatcher_sessions") == "1" && metric(t, addr, "koldun_dispatcher_running") == "1" &&
				metric(t, addr, "koldun_dispatcher_queued") == strconv.Itoa(queued) {
				return true
			}
		}
		return false
	})
}

// storedOn returns the number of requests in the stream, or -1.
func storedOn(t *testing.T, b *bus.Bus) int {
	t.Helper()
	stream, err := b.JetStream().Stream(waittest.Attempt(t), names.RequestStream)
	if err != nil {
		return -1
	}
	return int(stream.CachedInfo().State.Msgs)
}

// A burst sends requests of many clients at the same time.
type burst struct {
	s      *stack
	client *http.Client
	wg     sync.WaitGroup

	mu      sync.Mutex
	entries []history.Entry
}

// send sends n requests with the same prompt but different ids.
func (c *burst) send(ctx context.Context, from history.Tenant, n int, w history.Prompt) {
	c.sendFrom(ctx, from, 0, n, w)
}

// sendFrom is send with ids from a number on.
func (c *burst) sendFrom(ctx context.Context, from history.Tenant, first, n int, w history.Prompt) {
	for i := range n {
		own := history.Prompt{ID: fmt.Sprintf("%s-%d", from.Mark, first+i), N: w.N, Every: w.Every, Padding: w.Padding}
		c.wg.Go(func() {
			e := history.ChatRequest{Prompt: own, From: from, Stream: true}.Send(ctx, c.client, c.s.urls[0])
			c.mu.Lock()
			defer c.mu.Unlock()
			c.entries = append(c.entries, e)
		})
	}
}

// ended counts the requests of a tenant whose clients have an answer or an error.
func (c *burst) ended(of history.Tenant) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.entries {
		if e.Tenant.Name == of.Name {
			n++
		}
	}
	return n
}

func (c *burst) wait() []history.Entry {
	c.wg.Wait()
	return c.entries
}

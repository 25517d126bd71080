package node_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/history"
	"github.com/gorizond/koldun/test/waittest"
)

const (
	// sides is how many clients ask at the same time.
	sides = 4
	// pause is the pause of a client after an answer or an error. All clients together send
	// at most 20 requests per second.
	pause = 200 * time.Millisecond
	// patience is how long a client waits for the end of an answer.
	patience = 2 * time.Minute
	// One more client lists models so often, and waits so long for an answer. No engine
	// answers it, so that it finds a gateway that is gone.
	knockEvery  = 20 * time.Millisecond
	knockWithin = 15 * time.Second
)

// clients ask the same question again and again, and record what comes of it. Those whose
// request fails ask again. A request that has begun ends by itself. They are safe for
// concurrent use; events belong to them until they have ended.
type clients struct {
	at   gateway
	stop context.CancelFunc
	all  sync.WaitGroup

	mu      sync.Mutex
	events  history.History
	seen    tally // since the last call of since
	last    time.Time
	refused error // the last one of knock
}

// A tally is what became of requests.
type tally struct {
	answers int
	failed  map[string]int // by the code of the error, or by the verdict without one
	gap     time.Duration  // the longest time without an answer
	slowest time.Duration  // the longest time that a request took, whatever became of it
}

func (s tally) String() string {
	text := fmt.Sprintf("%d answers, longest gap %s, slowest request %s", s.answers, s.gap.Round(time.Millisecond), s.slowest.Round(time.Millisecond))
	for _, kind := range slices.Sorted(maps.Keys(s.failed)) {
		text += fmt.Sprintf(", %d %s", s.failed[kind], kind)
	}
	return text
}

// retries returns the number of requests that were asked again.
func (s tally) retries() (n int) {
	for _, f := range s.failed {
		n += f
	}
	return n
}

// startClients starts clients, which ask the model of history until the test ends or they
// are stopped.
func startClients(t *testing.T, at gateway) *clients {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &clients{at: at, stop: cancel, last: time.Now(), seen: tally{failed: map[string]int{}}}
	c.all.Go(func() {
		tick := time.NewTicker(knockEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				c.knock(context.WithoutCancel(ctx))
			}
		}
	})
	for side := range sides {
		c.all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				c.ask(context.WithoutCancel(ctx), fmt.Sprintf("%d-%d", side, n))
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		})
	}
	t.Cleanup(c.end)
	return c
}

// end stops the clients, and waits until the last requests have ended.
func (c *clients) end() { c.stop(); c.all.Wait() }

// knock lists models, by a new connection where a connection leads to one gateway.
func (c *clients) knock(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(knockWithin))
	defer cancel()
	err := c.at.list(ctx)
	if err == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.failed[string(history.Broken)]++
	c.refused = err
}

// ask sends one request and records its end.
func (c *clients) ask(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(patience))
	defer cancel()
	prompt := history.Prompt{ID: id, Question: question, Want: answer, N: len(answer)}
	e := history.SendChat(ctx, c.at.client, c.at.url, prompt, true, 0)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events.Entries = append(c.events.Entries, e)
	c.seen.slowest = max(c.seen.slowest, e.Ended.Sub(e.Invoked))
	switch {
	case e.Verdict == history.OK:
		c.seen.answers++
		c.seen.gap, c.last = max(c.seen.gap, e.Ended.Sub(c.last)), e.Ended
	case e.Code != "":
		c.seen.failed[e.Code]++
	default:
		c.seen.failed[string(e.Verdict)]++
	}
}

// since returns what became of the requests since the last call.
func (c *clients) since() tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.seen
	c.seen = tally{failed: map[string]int{}}
	return s
}

// refusal returns why models could not be listed last.
func (c *clients) refusal() error { c.mu.Lock(); defer c.mu.Unlock(); return c.refused }

// during returns what became of the requests while something happened, and until each
// client could ask some more. breaks says whether it may break connections.
func (c *clients) during(t *testing.T, breaks bool, happens func()) tally {
	t.Helper()
	c.since()
	c.events.Disturb(breaks, happens) // changes nothing that clients use
	c.more(t, sides*5)
	return c.since()
}

// more waits for n more answers.
func (c *clients) more(t *testing.T, n int) {
	t.Helper()
	answers := func() int { c.mu.Lock(); defer c.mu.Unlock(); return c.seen.answers }
	want := answers() + n
	cluster.Eventually(t, "answers", func(context.Context) error {
		if missing := want - answers(); missing > 0 {
			return fmt.Errorf("%d answers are missing", missing)
		}
		return nil
	})
}

// verify ends the clients, and checks what they saw and how the queue of the namespace says
// that their requests ended.
func (c *clients) verify(t *testing.T, m *messaging) {
	t.Helper()
	c.end()
	h := &c.events
	h.Outcomes = m.outcomes(t, history.Namespace)
	h.Verify(t, history.EndsOnce, history.OneGeneration, history.NothingLost)
	tell("The queue agrees: each of %d requests ended once, with the text of one generation", len(h.Entries))
}

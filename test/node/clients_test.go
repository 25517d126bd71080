package node_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/cluster"
)

const (
	// sides is how many clients ask at the same time.
	sides = 4
	// pause is the pause of a client after an answer or an error. All clients together send
	// at most 20 requests per second.
	pause = 200 * time.Millisecond
)

// clients ask the same question again and again. Those whose request fails in a way that a
// client must expect ask again. They are safe for concurrent use.
type clients struct {
	stop context.CancelFunc
	all  sync.WaitGroup

	mu     sync.Mutex
	seen   tally // since the last call of since
	last   time.Time
	during string // what the test does to the cluster
}

// A tally is what became of requests.
type tally struct {
	answers int
	failed  map[string]int // what a client must expect, by its kind
	gap     time.Duration  // the longest time without an answer
}

func (s tally) String() string {
	text := fmt.Sprintf("%d answers, longest gap %s", s.answers, s.gap.Round(time.Millisecond))
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

// startClients starts clients, which ask until stop is called.
func startClients(t *testing.T, url, model string) *clients {
	ctx, cancel := context.WithCancel(t.Context())
	c := &clients{stop: cancel, last: time.Now(), seen: tally{failed: map[string]int{}}}
	for range sides {
		c.all.Go(func() {
			for ctx.Err() == nil {
				// The last request ends too.
				_, text, err := ask(t.Context(), url, model, "")
				c.ended(t, text, err)
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		})
	}
	return c
}

// ended counts a request, and fails the test if its end is neither the whole answer nor a
// clean error.
func (c *clients) ended(t *testing.T, text string, err error) {
	var refused *refusal
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil && text == answer:
		now := time.Now()
		c.seen.answers++
		c.seen.gap, c.last = max(c.seen.gap, now.Sub(c.last)), now
	case errors.Is(err, errBroken) && !errors.Is(err, context.DeadlineExceeded):
		c.seen.failed["broken"]++
	case errors.As(err, &refused) && strings.HasPrefix(answer, text):
		c.seen.failed[refused.Code]++
	default:
		t.Errorf("%s: the answer is %q: %v", c.during, text, err)
	}
}

// since returns what became of the requests since the last call, and names what the test does
// next.
func (c *clients) since(next string) tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.seen
	c.seen, c.during = tally{failed: map[string]int{}}, next
	return s
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

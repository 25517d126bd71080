package capability

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

var session = names.Session("default", "tiny", "")

// watched runners are announced on a real server.
type watched struct {
	*Runners
	t *testing.T
}

func watch(t *testing.T) watched {
	t.Helper()
	w := watched{New(natstest.Start(t).Connect(t)), t}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		waittest.Returns(t, "the watch of runners ends", running.Wait)
	})
	return w
}

// put announces a runner of tiny, and waits until it is known.
func (w watched) put(runner string, state queue.RunnerState, features openai.Features, honours ...string) {
	w.t.Helper()
	key := names.RunnerKey(session, runner)
	rec := queue.Runner{Name: runner, Session: session, Model: "default/tiny", State: state, Features: features, Honours: honours}
	if _, err := w.bus.PutTTL(w.t.Context(), names.RunnersBucket, key, rec, time.Hour); err != nil {
		w.t.Fatal(err)
	}
	w.until(func(known map[string]capabilities) bool {
		c := known[key]
		return c.Features == features && c.State == state && slices.Equal(c.Honours, honours)
	})
}

func (w watched) until(ok func(known map[string]capabilities) bool) {
	w.t.Helper()
	waittest.Until(w.t, "the runners are known", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return ok(w.models["default/tiny"])
	})
}

// A request goes to the queue if a runner offers what it needs, or may do so.
func TestFeaturesOfRunners(t *testing.T) {
	w := watch(t)
	needs := func(more string) openai.Request {
		r, err := openai.DecodeChat([]byte(`{"model":"tiny","messages":[{"role":"user","content":"hello"}]` + more + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	tools, both := needs(`,"tools":[{}]`), needs(`,"tools":[{}],"logprobs":true`)
	refused := func(r openai.Request, want string) {
		t.Helper()
		got := ""
		if e := r.Refusal(w.Offered("default/tiny", r)); e != nil {
			got = e.Param
		}
		if got != want {
			t.Errorf("refused for %q, want %q", got, want)
		}
	}
	refused(both, "") // one may start
	w.put("r1", queue.RunnerStarting, "")
	refused(both, "") // nothing is known of it yet
	if got := w.unknown("default/tiny", needs(`,"top_k":1`)); len(got) > 0 {
		t.Errorf("before any engine is known, unknown = %q", got)
	}
	w.put("r1", queue.RunnerIdle, "")
	refused(tools, "tools")
	w.put("r2", queue.RunnerBusy, "tools", "top_k")
	refused(tools, "")
	refused(both, "logprobs")
	w.put("r3", queue.RunnerIdle, "logprobs")
	refused(both, "tools") // no single engine offers both
	w.put("r3", queue.RunnerStarting, "logprobs,tools", "seed")
	refused(both, "")
	if got := w.unknown("default/tiny", needs(`,"top_k":1,"min_p":0.1`)); !slices.Equal(got, []string{"min_p"}) {
		t.Errorf("unknown = %q", got)
	}
}

// The announcement of a runner counts until it ends or is replaced.
func TestEnginesComeAndGo(t *testing.T) {
	w := watch(t)
	chat, err := openai.DecodeChat([]byte(`{"model":"tiny","messages":[{"role":"user","content":"hello"}],"temperature":0.5,"seed":1}`))
	if err != nil {
		t.Fatal(err)
	}
	ignored := func(want ...string) {
		t.Helper()
		if got := w.ignored("default/tiny", chat); !slices.Equal(got, want) {
			t.Errorf("ignored = %q, want %q", got, want)
		}
		if got := w.ignored("default/other", chat); got != nil {
			t.Errorf("ignored for a model without engines = %q", got)
		}
	}
	ignored()
	w.put("r1", queue.RunnerIdle, "", "seed")
	ignored("temperature")
	w.put("r2", queue.RunnerIdle, "", "temperature") // a pool during a rollout
	ignored("seed", "temperature")
	w.put("r1", queue.RunnerIdle, "", "temperature", "seed")
	ignored("seed")
	if err := w.bus.Delete(t.Context(), names.RunnersBucket, names.RunnerKey(session, "r2"), 0); err != nil {
		t.Fatal(err)
	}
	w.until(func(known map[string]capabilities) bool { return len(known) == 1 })
	ignored()
	if err := w.bus.Delete(t.Context(), names.RunnersBucket, names.RunnerKey(session, "r1"), 0); err != nil {
		t.Fatal(err)
	}
	w.until(func(known map[string]capabilities) bool { return known == nil })
}

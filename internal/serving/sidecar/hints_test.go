package sidecar_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
)

const hints = `,"temperature":0.5,"top_p":0.5,"seed":1`

// Upstream takes the seed of a request, and its own temperature.
func TestRunnerNamesWhatItsEngineIgnores(t *testing.T) {
	cases := map[string]struct {
		says             string // of itself
		honours, ignored []string
	}{
		"Upstream": {"", []string{"seed"}, []string{"temperature", "top_p"}},
		"Embedded": {"temperature, top_p, seed", []string{"temperature", "top_p", "seed"}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.dispatcher("d1")
			e := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
				reply := enginetest.Echo(r)
				reply.Honours = c.says
				return reply
			})
			w.sidecar("r1", e)
			w.runner("r1", func(r queue.Runner) bool { return slices.Equal(r.Honours, c.honours) })
			lax := w.send(chat("req_1", "lax", hints))
			if f := lax.until(queue.FrameStarted); !slices.Equal(f.Ignored, c.ignored) {
				t.Errorf("ignored = %q, want %q", f.Ignored, c.ignored)
			}
			lax.want("lax")

			r := chat("req_2", "strict", hints)
			r.Strict = true
			strict := w.send(r)
			if c.ignored == nil {
				strict.want("strict")
				return
			}
			strict.wantError(queue.Failed, queue.CodeUnsupported)
			if o := strict.outcome(); o.Attempts != 1 || o.Dead || o.Error.Param != c.ignored[0] {
				t.Errorf("outcome = %+v, want one attempt that names %q", o, c.ignored[0])
			}
			if n := asked(e, "strict"); n != 0 {
				t.Errorf("the engine was asked %d times, want never", n)
			}
			r = chat("req_3", "seeded", `,"seed":1`)
			r.Strict = true
			w.send(r).want("seeded")
		})
	}
}

// A request runs the operation of its envelope, or a chat if it names none, as in
// messages of older versions.
func TestRequestsRunTheirOperation(t *testing.T) {
	w := newWorld(t)
	w.dispatcher("d1")
	e := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		reply := enginetest.Echo(r)
		reply.Operations = "chat, completion, rerank"
		return reply
	})
	w.sidecar("r1", e)
	for id, operation := range map[string]openai.Operation{"req_1": "", "req_2": openai.OperationChat, "req_3": openai.OperationCompletion} {
		r := chat(id, "hello", "")
		r.Operation = operation
		w.send(r).want("hello")
	}
	// The engine serves it, but its client has no such operation.
	r := chat("req_4", "unknown", "")
	r.Operation = "rerank"
	unknown := w.send(r)
	unknown.wantError(queue.Failed, queue.CodeInvalidRequest)
	// No engine serves it.
	r = chat("req_5", "unknown", "")
	r.Operation, r.Deadline = "embedding", time.Now().Add(time.Second)
	w.send(r).wantError(queue.Expired, queue.CodeExpired)
	if n := asked(e, "unknown"); n != 0 {
		t.Errorf("the engine was asked %d times, want never", n)
	}
}

package main_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// prints runs a command to its end and checks its exit status and output.
func (f *stack) prints(status int, args []string, want ...string) {
	f.t.Helper()
	p := f.koldun(args...)
	got := p.Exit(f.t)
	text := p.Text()
	if got != status {
		f.t.Errorf("koldun %s: exit status %d, want %d", strings.Join(args, " "), got, status)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			f.t.Errorf("koldun %s: output lacks %q:\n%s", strings.Join(args, " "), w, text)
		}
	}
	if strings.Contains(text, "secret prompt") && !strings.Contains(strings.Join(args, " "), "--body") {
		f.t.Errorf("koldun %s shows a prompt:\n%s", strings.Join(args, " "), text)
	}
}

func TestRequests(t *testing.T) {
	programtest.WithoutRace(t)
	t.Parallel()
	f := newStack(t)
	var cured atomic.Bool
	gate := make(chan struct{})
	engine := enginetest.Start(t, func(r enginetest.Request) enginetest.Reply {
		switch {
		case r.Last() == "slow":
			return enginetest.Reply{Pieces: []string{"never"}, Gate: gate}
		case r.Last() == "a secret prompt" && !cured.Load():
			return enginetest.Reply{BreakAfter: -1, Pieces: []string{"x"}}
		case r.Last() == "a secret prompt":
			return enginetest.Reply{Pieces: []string{"all ", "is well"}}
		}
		return enginetest.Echo(r)
	})
	f.dispatcher("d1").Expect(t, "ready|serving|listening|dispatcher")
	f.runner("r1", engine)

	poison := f.ask("req_poison", "a secret prompt")
	<-poison.done
	if o := f.outcome(poison.req.Ref()); o.State != queue.Failed || !o.Dead || o.Attempts != 3 || len(o.Reasons) != 3 {
		t.Fatalf("outcome = %+v, want failed after 3 attempts and kept as a dead letter", o)
	}
	f.want(f.ask("req_good", "fine"), "fine")

	f.prints(0, []string{"requests", "list"}, "req_poison", "failed", "engine_failed", "req_good", "completed", "ns/model")
	f.prints(0, []string{"requests", "list", "--state=dead"}, "req_poison", "3", "broke off")
	f.prints(0, []string{"requests", "list", "--state=completed", "--json"}, `"request":"req_good"`, `"completionTokens":`)
	f.prints(0, []string{"requests", "list", "--state=dead", "--model=ns/other"}, "no requests")
	f.prints(0, []string{"requests", "show", "req_poison"}, `"deadLetter"`, `"bodyBytes"`, `"state": "failed"`)
	f.prints(0, []string{"requests", "show", "--body", "req_poison"}, "a secret prompt")
	f.prints(12, []string{"requests", "show", "req_none"}, `cannot show request "req_none"`)
	f.prints(10, []string{"requests", "show", "not an id"}, "no id of a request")
	f.prints(12, []string{"requests", "replay", "req_good"}, `cannot replay request "req_good"`)
	f.prints(10, []string{"requests", "list", "--model=other"}, "NAMESPACE/NAME")

	// Once the engine works, the request is served under a new id, and its dead letter
	// is deleted.
	cured.Store(true)
	f.prints(0, []string{"requests", "replay", "req_poison"}, "queued as req_", "all is well")
	f.prints(0, []string{"requests", "list", "--state=dead"}, "no requests")
	f.settled()
	f.prints(0, []string{"requests", "list", "--state=completed", "--json"}, `"replayOf":"req_poison"`)

	slow := f.ask("req_slow", "slow")
	slow.begun(t)
	f.prints(0, []string{"requests", "list", "--state=open"}, "req_slow", "ns_model")
	f.prints(0, []string{"requests", "cancel", "req_slow"}, "cancelled req_slow")
	if o := f.outcome(slow.req.Ref()); o.State != queue.Cancelled {
		t.Errorf("outcome = %+v, want cancelled", o)
	}
	f.settled()
	f.prints(15, []string{"requests", "cancel", "req_slow"}, "it has ended (cancelled)")
	f.prints(12, []string{"requests", "cancel", "req_none"}, `cannot cancel request "req_none": it is neither waiting nor`)
}

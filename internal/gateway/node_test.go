package gateway

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/queue"
	"github.com/gorizond/koldun/internal/waittest"
)

// TestOfficialNodeClient runs the npm package openai against a gateway.
func TestOfficialNodeClient(t *testing.T) {
	const dir = "../../test/openai-node"
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("run it with: apt-get install nodejs npm && make openai-node")
	}
	if _, err := os.Stat(dir + "/node_modules/openai"); err != nil {
		t.Skip("run it with: make openai-node")
	}
	w := newWorld(t, nil)
	runner := startRunner(t, w.bus, tinySession, func(ctx context.Context, s *responder) {
		s.started()
		s.text("Hello")
		switch s.chat.Messages[0].Content {
		case "break":
			s.fail(queue.CodeInterrupted, "x")
		case "wait":
			<-ctx.Done()
		default:
			s.text(" you")
			s.end("stop", 3, 2)
		}
	})
	out, err := exec.CommandContext(waittest.Context(t), node, dir+"/talk.mjs", w.url+"/v1").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const want = `{"models":["default/tiny"],"model":"default/tiny","whole":["chat.completion","Hello you","stop",5],` +
		`"stream":[5,"Hello you","stop",5],"text":["text_completion","Hello you"],` +
		`"error":["BadRequestError",400,"unsupported_value","n",true],` +
		`"broken":["interrupted","The generation broke off. What came before is not complete."]}`
	if d := cmp.Diff(want, strings.TrimSpace(string(out))); d != "" {
		t.Error(d)
	}
	seen := runner.seen()
	last := seen[len(seen)-1].ID
	waittest.Until(t, "its abandoned request is cancelled", func() bool { _, ok := runner.cancellation(last); return ok })
}

package gateway

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

const nodeClients = "../../../test/openai-node"

// nodeProgram skips the test unless node and the clients are there.
func nodeProgram(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("run it with: apt-get install nodejs npm && make openai-node")
	}
	if _, err := os.Stat(nodeClients + "/node_modules/ai"); err != nil {
		t.Skip("run it with: make openai-node")
	}
	return node
}

// TestNodeClients runs the npm packages that people use to talk to models, unmodified,
// against a gateway: loops of tools, structured output, streams, embeddings.
func TestNodeClients(t *testing.T) {
	node := nodeProgram(t)
	w := storing(t, newWorld(t, nil), nil)
	startRunner(t, w.bus, tinySession, traveller)
	w.offerAll()
	for _, file := range []string{"openai", "ai", "langchain", "agents", "anthropic"} {
		t.Run(file, func(t *testing.T) {
			cmd := exec.CommandContext(waittest.Context(t), node, "--test", file+".test.mjs")
			cmd.Dir, cmd.Env = nodeClients, append(os.Environ(), "KOLDUN_URL="+w.url+"/v1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestOfficialNodeClient runs the npm package openai against a gateway.
func TestOfficialNodeClient(t *testing.T) {
	node := nodeProgram(t)
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
	out, err := exec.CommandContext(waittest.Context(t), node, nodeClients+"/talk.mjs", w.url+"/v1").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const want = `{"models":["default/tiny"],"model":"default/tiny","whole":["chat.completion","Hello you","stop",5],` +
		`"stream":[5,"Hello you","stop",5],"text":["text_completion","Hello you"],` +
		`"error":["BadRequestError",400,"invalid_value","n",true],` +
		`"broken":["interrupted","The generation broke off. What came before is not complete."]}`
	if d := cmp.Diff(want, strings.TrimSpace(string(out))); d != "" {
		t.Error(d)
	}
	seen := runner.seen()
	last := seen[len(seen)-1].ID
	waittest.Until(t, "its abandoned request is cancelled", func() bool { _, ok := runner.cancellation(last); return ok })
}

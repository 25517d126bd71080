package distributedllama_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/distributedllama"
)

var install = engine.Container{Name: "install", Image: "k", Args: []string{"install", "--to=$(KOLDUN_DIR_BIN)/koldun"}, Volumes: []string{"bin"}}

func TestRoot(t *testing.T) {
	gpu := int32(0)
	node := engine.Node{Image: "i", Koldun: "k", Threads: 4, NetTurbo: true, GPUIndex: &gpu, ExtraArgs: []string{"--x", "1"}}
	root := engine.Root{
		Node: node, ModelFile: "/m", TokenizerFile: "/t", Buffers: "q80", SeqLen: 512,
		Workers: []string{"a:1", "b:1"}, WaitFor: []string{"a:2", "b:2"},
	}
	want := engine.Pod{
		Init: []engine.Container{install},
		Main: engine.Container{Name: "engine", Image: "i", Command: []string{"$(KOLDUN_DIR_BIN)/koldun"}, ProbePort: "engine-health", Args: []string{
			"supervise", "--health-listen=:$(KOLDUN_PORT_ENGINE_HEALTH)", "--wait-for=a:2", "--wait-for=b:2", "--", "dllama-api",
			"--model", "/m", "--tokenizer", "/t", "--host", "127.0.0.1", "--port", "$(KOLDUN_PORT_ENGINE)", "--buffer-float-type", "q80", "--max-seq-len", "512",
			"--nthreads", "4", "--net-turbo", "1", "--gpu-index", "0", "--x", "1", "--workers", "a:1", "b:1",
		}},
		Folders: map[string]string{"bin": "/opt/koldun"},
	}
	if d := cmp.Diff(want, distributedllama.Engine().Root(root)); d != "" {
		t.Errorf("the root differs (-want +got):\n%s", d)
	}
	root.Sidecar, root.Workers, root.WaitFor = true, nil, nil
	alone := distributedllama.Engine().Root(root).Main
	if alone.ProbePort != "" || alone.Args[2] != "--" || alone.Args[len(alone.Args)-1] != "1" {
		t.Errorf("the root with a sidecar and no workers is %+v", alone)
	}
}

func TestWorker(t *testing.T) {
	got := distributedllama.Engine().Worker(engine.Worker{Node: engine.Node{Image: "i", Koldun: "k", Threads: -3}})
	want := engine.Pod{
		Init: []engine.Container{install},
		Main: engine.Container{Name: "worker", Image: "i", Command: []string{"$(KOLDUN_DIR_BIN)/koldun"}, ProbePort: "engine-health", Env: map[string]string{"KOLDUN_ENGINE_HOST": "0.0.0.0"}, Args: []string{
			"supervise", "--health-listen=:$(KOLDUN_PORT_ENGINE_HEALTH)", "--", "dllama", "worker", "--host", "$(KOLDUN_ENGINE_HOST)", "--port", "$(KOLDUN_PORT_ENGINE)",
			"--nthreads", "0", "--net-turbo", "0",
		}},
		Folders: map[string]string{"bin": "/opt/koldun"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the worker differs (-want +got):\n%s", d)
	}
}

// The supervisors of root and worker exit before their pods are killed.
func TestExtraGrace(t *testing.T) {
	n := engine.Node{ExtraGrace: time.Hour}
	root := distributedllama.Engine().Root(engine.Root{Node: n}).Main.Args[2]
	worker := distributedllama.Engine().Worker(engine.Worker{Node: n}).Main.Args[2]
	if root != "--grace=1h1m50s" || worker != "--grace=1h2m20s" {
		t.Errorf("the root has %s and the worker %s", root, worker)
	}
}

func TestDescription(t *testing.T) {
	e := distributedllama.Engine()
	if e.Selects(engine.Wish{Nodes: 1}) || !e.Selects(engine.Wish{Nodes: 1, Images: []string{"image"}}) || !e.Selects(engine.Wish{Nodes: 2}) || e.Image != distributedllama.Image || e.MaxNodes != 0 || e.Slots != 1 || !e.Guarded || !e.Memory.Limit {
		t.Errorf("the description is %+v", e)
	}
	for command, want := range map[string]engine.Role{"worker": engine.RoleWorker, "inference": engine.RoleRoot} {
		if got := e.Process.Role([]string{"dllama", command}); got != want {
			t.Errorf("dllama %s has role %v, want %v", command, got, want)
		}
	}
	if e.Process.Role([]string{"worker"}) != engine.RoleRoot {
		t.Error("a program named worker is a worker")
	}
}

// TestClassify reads lines of roots and workers.
func TestClassify(t *testing.T) {
	p := distributedllama.Engine().Process
	cases := map[string]struct {
		role  engine.Role
		line  string
		shown string // empty: withheld
		event engine.Event
	}{
		"Listening": {engine.RoleRoot, "Listening on 127.0.0.1:9990...\r", "Listening on 127.0.0.1:9990...", engine.Event{Kind: engine.EventListening}},
		"Peer":      {engine.RoleWorker, "⭕ The root node has connected", "⭕ The root node has connected", engine.Event{Kind: engine.EventPeer}},
		"Layer":     {engine.RoleRoot, "💿 Loaded 3/32", "💿 Loaded 3/32", engine.Event{Kind: engine.EventLayer, Loaded: 3, Total: 32}},
		"Tensor":    {engine.RoleWorker, "💿 Loaded block_q      0,       24 kB", "💿 Loaded block_q      0,       24 kB", engine.Event{Kind: engine.EventTensor}},
		"Weights":   {engine.RoleRoot, "💿 Weights loaded", "💿 Weights loaded", engine.Event{Kind: engine.EventWeights}},
		"End":       {engine.RoleRoot, "🔄 Retrying in 3 seconds...", "🔄 Retrying in 3 seconds...", engine.Event{Kind: engine.EventEnd}},
		"Fact":      {engine.RoleRoot, "📀 RequiredMemory: 12 MB", "📀 RequiredMemory: 12 MB", engine.Event{}},
		"Unknown":   {engine.RoleRoot, "the user's words", "", engine.Event{}},
		"OfWorker":  {engine.RoleWorker, "a\tnew\x1b fact\xff", "a\tnew\ufffd fact\ufffd", engine.Event{}},
		"JSON":      {engine.RoleRoot, "  what():  [json.exception.parse_error.101] last read: 'secret'", "  what():  [json.exception.parse_error.101]", engine.Event{}},
		"OwnError":  {engine.RoleRoot, "🚨 Critical error: Cannot open file", "🚨 Critical error: Cannot open file", engine.Event{}},
		"Token":     {engine.RoleRoot, "🔶 Pred   12 ms Sync    0 ms | Sent     3 kB Recv     4 kB | secret", "🔶 Pred   12 ms Sync    0 ms | Sent     3 kB Recv     4 kB |", engine.Event{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			shown, event, ok := p.Classify(c.role, c.line)
			if shown != c.shown || ok != (c.shown != "") || event != c.event {
				t.Errorf("got %q %+v %v, want %q %+v", shown, event, ok, c.shown, c.event)
			}
		})
	}
	for line, want := range map[string]bool{
		"🔷 POST /v1/chat/completions\r": true, "🔄 Retrying in 3 seconds...": true, "🚨 Inference error": true,
		"💿 Weights loaded": false, "🔷 the user's words": false, "": false,
	} {
		if got := p.Resumes([]byte(line)); got != want {
			t.Errorf("Resumes(%q) = %v, want %v", line, got, want)
		}
	}
}

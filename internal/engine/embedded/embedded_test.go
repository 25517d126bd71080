package embedded_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/embedded"
	"github.com/gorizond/koldun/internal/openai"
)

func TestRoot(t *testing.T) {
	got := embedded.Engine().Root(engine.Root{
		Node:      engine.Node{Image: "i", Koldun: "k", Threads: -1, ExtraArgs: []string{"--seed=1"}},
		ModelFile: "/m", TokenizerFile: "/t", Buffers: "q80", SeqLen: 512, Slots: 6, Sidecar: true,
	})
	want := engine.Pod{Main: engine.Container{Name: "engine", Image: "i", Args: []string{
		"engine", "api", "--model=/m", "--tokenizer=/t", "--host=127.0.0.1", "--port=$(KOLDUN_PORT_ENGINE)",
		"--health-listen=:$(KOLDUN_PORT_ENGINE_HEALTH)", "--buffer-float-type=q80", "--nthreads=0", "--max-seq-len=512", "--slots=6", "--temperature=0", "--seed=1",
	}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the root differs (-want +got):\n%s", d)
	}
}

// A claim's own arguments still count.
func TestExtraGrace(t *testing.T) {
	args := embedded.Engine().Root(engine.Root{Node: engine.Node{ExtraGrace: time.Hour, ExtraArgs: []string{"--grace=1s"}}}).Main.Args
	if d := cmp.Diff([]string{"--temperature=0", "--grace=1h1m50s", "--grace=1s"}, args[len(args)-3:]); d != "" {
		t.Error(d)
	}
}

func TestDescription(t *testing.T) {
	e := embedded.Engine()
	if !e.Selects(engine.Wish{}) || !e.Selects(engine.Wish{Nodes: 1}) || e.Selects(engine.Wish{Nodes: 2}) || e.Selects(engine.Wish{Images: []string{"image"}}) || e.Image != "" || e.MaxNodes != 1 || e.Slots != 4 || e.MaxSlots != engine.MaxSlots || e.Guarded || e.Memory.Limit || e.Process != nil {
		t.Errorf("the description is %+v", e)
	}
	if d := cmp.Diff([]string{openai.HintTemperature, openai.HintTopP, openai.HintSeed}, e.Parameters); d != "" {
		t.Error(d)
	}
}

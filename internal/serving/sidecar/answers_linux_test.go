package sidecar_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/convert/converttest"
	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/test/waittest"
)

// A model of each architecture that the converter knows, with random weights,
// answers the same on one node of distributed-llama, on two, and in the embedded
// engine. distributed-llama does not run Qwen3-MoE with f32 weights. With others,
// nodes round what they exchange, so that one node and two agree only for a while.
func TestConvertedModelsAnswer(t *testing.T) {
	binaries(t)
	for arch, c := range map[topology.Arch]struct {
		weights topology.FloatType
		tokens  int
	}{
		topology.Llama:    {topology.F32, 32},
		topology.Qwen3:    {topology.F32, 32},
		topology.Qwen3MoE: {topology.Q40, 8},
	} {
		t.Run(string(arch), func(t *testing.T) {
			t.Parallel()
			m := random(t, converttest.Shape{
				Arch: arch, Dim: 128, Hidden: 256, Layers: 3, Heads: 4, KVHeads: 2, HeadDim: 32, Vocab: 1024, SeqLen: 256,
				Experts: 4, Active: 2, ExpertWidth: 64,
			}, c.weights)
			one := askNodes(t, startNodes(t, 0, m), c.tokens)
			compare(t, "two nodes", askNodes(t, startNodes(t, 1, m), c.tokens), one)
			compare(t, "the embedded engine", askEmbedded(t, m, c.tokens), one)
			if strings.Join(one, "") == "" {
				t.Error("all answers are empty")
			}
		})
	}
}

// compare compares answers with those of one node. dllama-api drops NUL, and a
// character that is not complete when the answer ends.
func compare(t *testing.T, who string, got, one []string) {
	t.Helper()
	same := func(s string) string { return strings.TrimRight(strings.ReplaceAll(s, "\x00", ""), "\uFFFD") }
	for i, q := range questions() {
		if same(got[i]) != same(one[i]) {
			t.Errorf("%s answers %q with %q, and one node with %q", who, q, got[i], one[i])
		}
	}
}

func questions() []string { return []string{question, "Hi", "How do I run a model on two nodes?"} }

func askNodes(t *testing.T, n *nodes, tokens int) []string {
	t.Helper()
	client, err := engineapi.New(n.url)
	if err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the root to serve", func() bool {
		state, err := n.supervisor().State(t.Context())
		return err == nil && state == "serving"
	})
	var all []string
	for _, q := range questions() {
		var text strings.Builder
		_, err := client.Do(waittest.Context(t), engineapi.Chat{
			Messages: []openai.Message{{Role: openai.User, Content: q}}, MaxTokens: tokens,
		}, engineapi.Options{}, func(d engineapi.Delta) error {
			text.WriteString(d.Text)
			return nil
		})
		if err != nil {
			t.Fatal(fmt.Errorf("%q: %w", q, err))
		}
		all = append(all, text.String())
	}
	return all
}

func askEmbedded(t *testing.T, m files, tokens int) []string {
	t.Helper()
	e, err := llama.Open(llama.Config{Model: m.model, Tokenizer: m.tokenizer, Threads: 1, BufferFloatType: topology.FloatType(m.buffers)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	var all []string
	for _, q := range questions() {
		var text strings.Builder
		_, err := e.Generate(waittest.Context(t), llama.Request{
			Messages: []llama.Message{{Role: "user", Content: q}}, MaxTokens: tokens,
		}, func(p llama.Piece) error {
			text.WriteString(p.Text)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text.String())
	}
	return all
}

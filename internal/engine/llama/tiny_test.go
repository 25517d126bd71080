package llama

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/convert"
	dirstore "github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
)

const tiny = "../../../examples/models/koldun-tiny"

// convertModel converts a model folder with package convert.
func convertModel(tb testing.TB, from string, weights topology.FloatType, only convert.Part) (model, tokenizer string) {
	tb.Helper()
	dir := tb.TempDir()
	source, err := dirstore.Open(from)
	if err != nil {
		tb.Fatal(err)
	}
	target, err := dirstore.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	cfg := convert.Config{From: source, To: target, Name: "test", Weights: weights, Only: only}
	if _, err := convert.Run(context.Background(), cfg); err != nil {
		tb.Fatal(err)
	}
	return filepath.Join(dir, names.ModelFile("test", string(weights))), filepath.Join(dir, names.TokenizerFile("test"))
}

// tinyConfig is a configuration for koldun-tiny.
func tinyConfig(tb testing.TB, weights topology.FloatType) Config {
	tb.Helper()
	model, tokenizer := convertModel(tb, tiny, weights, convert.Both)
	return Config{Model: model, Tokenizer: tokenizer, Threads: 2}
}

func open(tb testing.TB, c Config) *Engine {
	tb.Helper()
	e, err := Open(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

// ask generates an answer and returns its text and result.
func ask(tb testing.TB, e *Engine, r Request) (string, Result) {
	tb.Helper()
	var text strings.Builder
	result, err := e.Generate(context.Background(), r, func(p Piece) error {
		text.WriteString(p.Text)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return text.String(), result
}

func user(content string) Request {
	return Request{Messages: []Message{{Role: "user", Content: content}}}
}

// A referencePrompt is an entry of the model's reference.json.
type referencePrompt struct {
	Messages []Message
	Text     string
	Tokens   []int
	F32, Q40 referenceAnswer
}

type referenceAnswer struct {
	Tokens []int
	Text   string
	Logits []float64 // of the first token; for some prompts
}

func readReference(tb testing.TB) []referencePrompt {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join(tiny, "reference.json"))
	if err != nil {
		tb.Fatal(err)
	}
	var r struct{ Prompts []referencePrompt }
	if err := json.Unmarshal(raw, &r); err != nil {
		tb.Fatal(err)
	}
	if len(r.Prompts) != 12 {
		tb.Fatalf("reference.json has %d prompts, want 12", len(r.Prompts))
	}
	return r.Prompts
}

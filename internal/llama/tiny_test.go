package llama

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/convert"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/objectstore"
	"github.com/gorizond/koldun/internal/topology"
)

const tiny = "../../examples/models/koldun-tiny"

// convertModel converts a model folder with the project's own converter.
func convertModel(t testing.TB, from string, weights topology.FloatType, only convert.Part) (model, tokenizer string) {
	t.Helper()
	dir := t.TempDir()
	source, err := objectstore.OpenDir(from)
	if err != nil {
		t.Fatal(err)
	}
	target, err := objectstore.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg := convert.Config{From: source, To: target, Name: "test", Weights: weights, Only: only}
	if _, err := convert.Run(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, names.ModelFile("test", string(weights))), filepath.Join(dir, names.TokenizerFile("test"))
}

// tinyConfig is a configuration for koldun-tiny.
func tinyConfig(t testing.TB, weights topology.FloatType) Config {
	t.Helper()
	model, tokenizer := convertModel(t, tiny, weights, convert.Both)
	return Config{Model: model, Tokenizer: tokenizer, Threads: 2}
}

func open(t testing.TB, c Config) *Engine {
	t.Helper()
	e, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// ask answers and returns the text with the result.
func ask(t testing.TB, e *Engine, r Request) (string, Result) {
	t.Helper()
	var text strings.Builder
	result, err := e.Generate(context.Background(), r, func(p Piece) error {
		text.WriteString(p.Text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String(), result
}

func user(content string) Request { return Request{Messages: []Message{{"user", content}}} }

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

func readReference(t testing.TB) []referencePrompt {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(tiny, "reference.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r struct{ Prompts []referencePrompt }
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Prompts) != 12 {
		t.Fatalf("reference.json has %d prompts, want 12", len(r.Prompts))
	}
	return r.Prompts
}

package llama

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/constrain"
	"github.com/gorizond/koldun/internal/model/topology"
)

func grammar(tb testing.TB, schema string) *constrain.Grammar {
	tb.Helper()
	g, err := constrain.Schema(tb.Context(), []byte(schema))
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// TestGrammar holds a model to a form that it was not trained for, at temperatures
// at which it writes nonsense.
func TestGrammar(t *testing.T) {
	e := open(t, tinyConfig(t, topology.Q40))
	g := grammar(t, `{"type":"object","properties":{"kind":{"enum":["river","bridge"]},"length":{"type":"integer","minimum":1,"maximum":50},
		"at":{"type":"array","items":{"type":"array","items":{"type":"number","minimum":0,"maximum":9},"minItems":2,"maxItems":2},"maxItems":2}},
		"required":["kind","length","at"],"additionalProperties":false}`)
	whole := 0
	for seed := range uint64(8) {
		r := user("Hello")
		r.Grammar, r.MaxTokens, r.Sampling = g, 200, Sampling{Temperature: float32(seed) / 2, Seed: seed}
		text, result := ask(t, e, r)
		if result.Finish == FinishLength {
			continue
		}
		whole++
		var got struct {
			Kind   string
			Length int
			At     [][]float64
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&got); err != nil || d.More() {
			t.Fatalf("the answer is %q: %v", text, err)
		}
		if !slices.Contains([]string{"river", "bridge"}, got.Kind) || got.Length < 1 || got.Length > 50 || len(got.At) > 2 {
			t.Errorf("the answer is %q", text)
		}
		for _, at := range got.At {
			if len(at) != 2 || min(at[0], at[1]) < 0 || max(at[0], at[1]) > 9 {
				t.Errorf("the answer is %q", text)
			}
		}
	}
	if whole < 4 {
		t.Errorf("only %d answers came to their end", whole)
	}
}

func TestGrammarAndLength(t *testing.T) {
	e := open(t, tinyConfig(t, topology.Q40))
	r := user("Hello")
	r.Grammar, r.MaxTokens = grammar(t, `{"type":"array","items":{"type":"integer"},"minItems":9}`), 4
	if text, result := ask(t, e, r); result.Finish != FinishLength || result.Tokens != 4 || !strings.HasPrefix(text, "[") {
		t.Errorf("the answer %q ends with %s", text, result.Finish)
	}
}

func TestGrammarRefuses(t *testing.T) {
	e := open(t, tinyConfig(t, topology.Q40))
	r := user("Hello")
	r.Grammar = grammar(t, `{"type":"null"}`)
	r.Stop = []string{"l"}
	if _, err := e.Generate(t.Context(), r, func(Piece) error { return nil }); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "stop sequences") {
		t.Errorf("err = %v", err)
	}
	r.Stop = nil
	if text, result := ask(t, e, r); text != "null" || result.Finish != FinishStop {
		t.Errorf("the answer %q ends with %s", text, result.Finish)
	}
}

// TestGrammarAfterThoughts lets the model think first, if its template begins
// thoughts.
func TestGrammarAfterThoughts(t *testing.T) {
	cfg := tinyConfig(t, topology.Q40)
	cfg.ChatTemplate = DeepSeek3
	e := open(t, cfg)
	r := user("Hello")
	r.Grammar, r.MaxTokens = grammar(t, `{"const":"x"}`), 3
	if text, _ := ask(t, e, r); !strings.HasPrefix(text, "<think>\n") || strings.Contains(text, `"x`) {
		t.Errorf("without an end of the thoughts, the answer is %q", text)
	}
	m, err := e.follow(t.Context(), r.Grammar, true)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := e.tokenizer.Encode("so</think>\n", false)
	if err != nil {
		t.Fatal(err)
	}
	set, err := m(tokens[:1])
	if err != nil || set.Has(e.tokenizer.File().EOS[0]) {
		t.Errorf("the answer may end in thoughts, err = %v", err)
	}
	if set, err = m(tokens); err != nil {
		t.Fatal(err)
	}
	for id, tok := range e.tokenizer.File().Tokens {
		if set.Has(id) && strings.Trim(tok.Text, "\n") != "" && !strings.HasPrefix(tok.Text, `"`) {
			t.Errorf("%q may follow the thoughts", tok.Text)
		}
	}
}

func TestApply(t *testing.T) {
	set := TokenSet{1<<3 | 1<<63, 0, ^uint64(0), 1}
	scores := make([]float32, 200)
	if err := set.apply(scores); err != nil {
		t.Fatal(err)
	}
	for id, score := range scores {
		if (score == 0) != set.Has(id) {
			t.Errorf("token %d: score %g, in the set: %t", id, score, set.Has(id))
		}
	}
	if err := (TokenSet{0, 1 << 40}).apply(make([]float32, 100)); !fault.Is(err, fault.Invalid) {
		t.Errorf("err = %v", err)
	}
}

package llama

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
)

func TestLogProbs(t *testing.T) {
	e := open(t, tinyConfig(t, topology.F32))
	r := user("Hello")
	r.LogProbs, r.Alternatives, r.Sampling = true, 3, Sampling{Temperature: 2, Seed: 7}
	r.MaxTokens = 8
	var choices []Choice
	result, err := e.Generate(context.Background(), r, func(p Piece) error {
		choices = append(choices, p.Choices...)
		if p.Tokens != len(choices) {
			t.Errorf("a piece after %d tokens has %d choices", p.Tokens, len(choices))
		}
		return nil
	})
	if err != nil || len(choices) != result.Tokens {
		t.Fatalf("%d choices of %d tokens, err = %v", len(choices), result.Tokens, err)
	}
	tokens, _, err := e.encode(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	// The scores after the prompt, before temperature, tell all probabilities.
	scores := evalAll(t, e.runner, &sequence{}, tokens, batchSize)
	var sum float64
	for _, s := range scores {
		sum += math.Exp(float64(s))
	}
	logProb := func(token int) float64 { return float64(scores[token]) - math.Log(sum) }
	first := choices[0]
	if d := float64(first.LogProb) - logProb(first.Token); math.Abs(d) > 1e-5 {
		t.Errorf("the log probability of token %d is %g, want %g", first.Token, first.LogProb, logProb(first.Token))
	}
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	if len(first.Alternatives) != 3 {
		t.Fatalf("there are %d alternatives", len(first.Alternatives))
	}
	for i, a := range first.Alternatives {
		if a.Token != order[i] || math.Abs(float64(a.LogProb)-logProb(a.Token)) > 1e-5 {
			t.Errorf("alternative %d is %+v, want token %d with %g", i, a, order[i], logProb(order[i]))
		}
	}
}

func TestLogProbsRefuses(t *testing.T) {
	for name, r := range map[string]Request{
		"TooMany":  {LogProbs: true, Alternatives: MaxAlternatives + 1},
		"Negative": {LogProbs: true, Alternatives: -1},
		"Without":  {Alternatives: 1},
	} {
		if err := r.validate(); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

func TestMask(t *testing.T) {
	e := open(t, tinyConfig(t, topology.Q40))
	vocabulary := len(e.tokenizer.File().Tokens)
	allowed := make(TokenSet, vocabulary/64)
	for i, tok := range e.tokenizer.File().Tokens {
		if strings.Trim(tok.Text, "0123456789") == "" {
			allowed.Add(i)
		}
	}
	for name, s := range map[string]Sampling{"Greedy": {}, "Sampled": {Temperature: 2, Seed: 3}, "TopP": {Temperature: 2, TopP: .9, Seed: 3}} {
		t.Run(name, func(t *testing.T) {
			r := user("Hello")
			r.Sampling, r.MaxTokens = s, 5
			steps := 0
			r.Mask = func(answer []int) (TokenSet, error) {
				if len(answer) != steps {
					t.Errorf("step %d has an answer of %d tokens", steps, len(answer))
				}
				steps++
				if steps == 1 {
					return nil, nil
				}
				return allowed, nil
			}
			var free []int
			r.LogProbs = true
			_, err := e.Generate(t.Context(), r, func(p Piece) error {
				for _, c := range p.Choices {
					if !allowed.Has(c.Token) {
						free = append(free, c.Token)
					}
				}
				return nil
			})
			if err != nil || len(free) > 1 || steps != 5 {
				t.Errorf("after %d steps, tokens %v are not digits, err = %v", steps, free, err)
			}
		})
	}
	t.Run("NothingAllowed", func(t *testing.T) {
		r := user("Hello")
		r.Mask = func([]int) (TokenSet, error) { return TokenSet{}, nil }
		if _, err := e.Generate(t.Context(), r, func(Piece) error { return nil }); !fault.Is(err, fault.Invalid) {
			t.Errorf("err = %v", err)
		}
	})
	if text, _ := ask(t, e, user("Hello")); text != hello {
		t.Errorf("without a mask the answer is %q", text)
	}
}

func TestEmbed(t *testing.T) {
	cfg := tinyConfig(t, topology.F32)
	cfg.Slots = 3
	e := open(t, cfg)
	text := strings.Repeat("a river and an old bridge ", 8)
	want := map[Pooling][]float32{}
	for _, how := range []Pooling{PoolMean, PoolLast} {
		a, err := e.Embed(t.Context(), Input{Text: text}, how)
		if err != nil {
			t.Fatal(err)
		}
		want[how] = a.Values
		var squares float64
		for _, v := range a.Values {
			squares += float64(v) * float64(v)
		}
		if len(a.Values) != e.Info().Shape.Dim || a.Tokens <= batchSize || math.Abs(squares-1) > 1e-5 {
			t.Errorf("%s: %d values of %d tokens, the square of the length is %g", how, len(a.Values), a.Tokens, squares)
		}
	}
	if slices.Equal(want[PoolMean], want[PoolLast]) {
		t.Error("both poolings give the same vector")
	}
	// The scores of the classifier follow from the last state.
	tokens, err := e.Embed(t.Context(), Input{Text: "a"}, PoolLast)
	if err != nil {
		t.Fatal(err)
	}
	mean, err := e.Embed(t.Context(), Input{Text: "a"}, PoolMean)
	if err != nil || tokens.Tokens != 2 || slices.Equal(mean.Values, tokens.Values) {
		t.Errorf("the mean of BOS and a token is the last state: %v", err)
	}
	// Beside an answer, and with its prompt in the cache, the bits are the same.
	if _, err := e.Generate(t.Context(), Request{Prompt: text, MaxTokens: 20}, func(p Piece) error {
		for _, how := range []Pooling{PoolMean, PoolLast} {
			got, err := e.Embed(t.Context(), Input{Text: text}, how)
			if err != nil || !slices.Equal(got.Values, want[how]) {
				t.Errorf("%s: another vector beside an answer, err = %v", how, err)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(t.Context(), Input{Text: "a"}, "max"); !fault.Is(err, fault.Invalid) {
		t.Errorf("pooling max: err = %v", err)
	}
	if _, err := e.Embed(t.Context(), Input{Text: strings.Repeat("word ", 4000)}, PoolMean); !fault.Is(err, fault.Invalid) {
		t.Errorf("too long: err = %v", err)
	}
	// Tokens give the embedding of their text.
	ids, err := e.inputTokens(Input{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := e.Embed(t.Context(), Input{Tokens: ids}, PoolMean); err != nil || !slices.Equal(got.Values, want[PoolMean]) || got.Tokens != len(ids) {
		t.Errorf("tokens: another vector than their text, err = %v", err)
	}
	for _, ids := range [][]int{{-1}, {1 << 30}, make([]int, 1<<16)} {
		if _, err := e.Embed(t.Context(), Input{Tokens: ids}, PoolMean); !fault.Is(err, fault.Invalid) {
			t.Errorf("%d tokens from %d: err = %v", len(ids), ids[0], err)
		}
	}
}

func TestSequenceBytes(t *testing.T) {
	cfg := tinyConfig(t, topology.Q40)
	cfg.Slots = 4
	e := open(t, cfg)
	block := int64(2 * 4 * 4 * 64 * blockTokens) // keys and values of 4 layers, 64 wide, in float32
	for tokens, want := range map[int]int64{0: 0, 1: block, blockTokens: block, blockTokens + 1: 2 * block, 1 << 20: 8 * block} {
		if got := e.runner.cache.bytes(min(tokens, e.runner.seqLen)); got != want {
			t.Errorf("%d tokens take %d bytes, want %d", tokens, got, want)
		}
	}
	if i := e.Info(); i.CacheBytes != 4*8*block || i.Slots != 4 {
		t.Errorf("info is %+v", i)
	}
}

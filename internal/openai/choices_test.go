package openai

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each choice is queued as a request for one answer, with a seed of its own.
func TestBodiesOfChoices(t *testing.T) {
	cases := map[string]struct {
		decode func([]byte) (Request, error)
		body   string
		want   []string
	}{
		"Seed": {DecodeChat, `{"model":"m","messages":[{"role":"user","content":"a"}],"n":3,"seed":5}`, []string{`"seed":5}`, `"seed":6}`, `"seed":7}`}},
		"None": {DecodeChat, `{"model":"m","messages":[{"role":"user","content":"a"}],"n":2,"top_p":0.5}`, []string{`"top_p":0.5}`, `"top_p":0.5}`}},
		"Text": {DecodeCompletion, `{"model":"m","prompt":"a","n":2,"best_of":2,"seed":-1}`, []string{`"seed":-1}`, `"seed":0}`}},
		"One":  {DecodeChat, `{"model":"m","messages":[{"role":"user","content":"a"}],"n":1,"seed":5}`, []string{`"seed":5}`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := c.decode([]byte(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if max(r.Choices, 1) != len(c.want) {
				t.Errorf("%d choices", r.Choices)
			}
			for i, want := range c.want {
				body, err := r.Body("ns/m", i)
				if err != nil || !strings.HasSuffix(string(body), want) || strings.Contains(string(body), `"n"`) {
					t.Errorf("choice %d: %s, %v; want %s", i, body, err, want)
				}
				if _, err := ParseChat(body); err != nil {
					t.Errorf("choice %d cannot be read back: %v", i, err)
				}
			}
		})
	}
}

func TestSumUsage(t *testing.T) {
	got := SumUsage([]*Usage{NewUsage(7, 2), nil, NewUsage(7, 3)})
	if d := cmp.Diff(&Usage{PromptTokens: 7, CompletionTokens: 5, TotalTokens: 12}, got); d != "" {
		t.Error(d)
	}
}

// FuzzChoices holds that the choices of a request differ in nothing but the seed.
func FuzzChoices(f *testing.F) {
	f.Add(2, int64(5), true)
	f.Add(8, int64(math.MaxInt64), true)
	f.Add(3, int64(0), false)
	f.Fuzz(func(t *testing.T, n int, seed int64, seeded bool) {
		if n < 1 || n > MaxChoices {
			return
		}
		r := ChatRequest{Model: "m", Messages: []Message{{Role: User, Content: "a"}}, Choices: n}
		if seeded {
			r.Seed = &seed
		}
		seeds := map[int64]bool{}
		for i := range n {
			got := r.choice(i)
			if got.Seed != nil {
				seeds[*got.Seed] = true
			}
			got.Seed = nil
			if d := cmp.Diff(ChatRequest{Model: r.Model, Messages: r.Messages}, got); d != "" {
				t.Fatal(d)
			}
		}
		if seeded && (len(seeds) != n || *r.Seed != seed) {
			t.Errorf("the seeds of %d choices are %v", n, seeds)
		}
	})
}

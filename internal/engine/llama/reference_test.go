package llama

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/llama/kernel"
	"github.com/gorizond/koldun/internal/model/topology"
)

func TestReferencePrompts(t *testing.T) {
	e := open(t, tinyConfig(t, topology.Q40))
	for _, p := range readReference(t) {
		parts, begun, err := e.chat.prompt(t.Context(), p.Messages, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(p.Text, joined(parts)); d != "" || begun != "" {
			t.Errorf("prompt differs (and begins with %q): %s", begun, d)
		}
		tokens, _, err := e.encode(t.Context(), Request{Messages: p.Messages})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(p.Tokens, tokens); d != "" {
			t.Error(d)
		}
	}
}

func TestReferenceAnswers(t *testing.T) {
	cases := map[string]struct {
		weights, buffers topology.FloatType
		widened          bool
		answer           func(referencePrompt) referenceAnswer
		wantEqual        int     // answers, at least
		tolerance        float64 // of logits
	}{
		"F32":            {topology.F32, topology.F32, false, func(p referencePrompt) referenceAnswer { return p.F32 }, 12, 1e-4},
		"Q40":            {topology.Q40, topology.Q80, false, func(p referencePrompt) referenceAnswer { return p.Q40 }, 11, .5},
		"Q40NotRounding": {topology.Q40, topology.F32, true, func(p referencePrompt) referenceAnswer { return p.Q40 }, 12, 1e-4},
	}
	prompts := readReference(t)
	for name, c := range cases {
		cfg := tinyConfig(t, c.weights)
		cfg.BufferFloatType = c.buffers
		if c.widened {
			cfg.Model = widened(t, cfg.Model)
		}
		for _, k := range kernel.Sets() {
			t.Run(name+"/"+k.Name, func(t *testing.T) {
				cfg.kernels = k
				e := open(t, cfg)
				equal := 0
				for _, p := range prompts {
					want := c.answer(p)
					if answersAs(t, e, p, want) {
						equal++
					}
					if want.Logits != nil {
						checkLogits(t, e, p.Tokens, want.Logits, c.tolerance)
					}
				}
				if equal < c.wantEqual {
					t.Errorf("%d of %d answers are as in the reference, want %d", equal, len(prompts), c.wantEqual)
				}
			})
		}
	}
}

func answersAs(t *testing.T, e *Engine, p referencePrompt, want referenceAnswer) bool {
	t.Helper()
	text, result := ask(t, e, Request{Messages: p.Messages})
	// The token that ended the answer was not fed back to the model.
	tokens := append(slices.Clone(lastKept(e).tokens[len(p.Tokens):]), e.tokenizer.File().EOS[0])
	if result.Finish != FinishStop || result.PromptTokens != len(p.Tokens) || result.Tokens != len(tokens) {
		t.Errorf("result is %+v with %d tokens", result, len(tokens))
	}
	if text == want.Text && slices.Equal(tokens, want.Tokens) {
		return true
	}
	t.Logf("answer is %q, want %q", text, want.Text)
	return false
}

// lastKept returns the sequence of the last answer. The engine must be idle.
func lastKept(e *Engine) *sequence {
	kept := e.scheduler.prefixes.kept
	return kept[len(kept)-1]
}

// checkLogits evaluates a prompt from the beginning.
func checkLogits(t *testing.T, e *Engine, prompt []int, want []float64, tolerance float64) {
	t.Helper()
	logits := evalAll(t, e.runner, &sequence{}, prompt, batchSize)
	worst := 0.0
	for i, w := range want {
		worst = max(worst, math.Abs(w-float64(logits[i])))
	}
	if !(worst <= tolerance) {
		t.Errorf("logits differ from the reference by %g, want at most %g", worst, tolerance)
	}
}

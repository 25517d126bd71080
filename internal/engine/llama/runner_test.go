package llama

import (
	"errors"
	"slices"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/convert"
	"github.com/gorizond/koldun/internal/engine/llama/kernel"
	"github.com/gorizond/koldun/internal/model/topology"
)

// TestBatches wants the same bits for every batch size and number of threads,
// with each set of kernels.
func TestBatches(t *testing.T) {
	for name, path := range testModels(t) {
		for _, k := range kernel.Sets() {
			t.Run(name+"/"+k.Name, func(t *testing.T) { testBatches(t, path, k) })
		}
	}
}

// testModels returns models of both types of weights, and of experts.
func testModels(tb testing.TB) map[string]string {
	tb.Helper()
	out := map[string]string{}
	for name, weights := range map[string]topology.FloatType{"F32": topology.F32, "Q40": topology.Q40} {
		out[name], _ = convertModel(tb, tiny, weights, convert.Model)
		out["Mixture"+name], _ = convertModel(tb, mixtureFolder(tb), weights, convert.Model)
	}
	return out
}

func testBatches(t *testing.T, path string, k *kernel.Set) {
	t.Helper()
	rng := newRand()
	tokens := make([]int, 50)
	for i := range tokens {
		tokens[i] = rng.IntN(1024)
	}
	single, alone := newTestRunnerWith(t, path, "", 1, k), &sequence{}
	want := slices.Clone(evalAll(t, single, alone, tokens, 1))
	for _, c := range []struct{ threads, batch int }{{1, 32}, {2, 7}, {3, 32}, {16, 31}} {
		r := newTestRunnerWith(t, path, "", c.threads, k)
		s := &sequence{}
		if got := evalAll(t, r, s, tokens, c.batch); !slices.Equal(got, want) {
			t.Errorf("%d threads, batches of %d: logits differ", c.threads, c.batch)
		}
		for i, b := range s.blocks {
			if !slices.Equal(b.keys, alone.blocks[i].keys) || !slices.Equal(b.values, alone.blocks[i].values) {
				t.Errorf("%d threads, batches of %d: block %d of the cache differs", c.threads, c.batch, i)
			}
		}
	}
}

func TestEvalStopsBetweenLayers(t *testing.T) {
	path, _ := convertModel(t, tiny, topology.Q40, convert.Model)
	r := newTestRunner(t, path, "", 1)
	s := &sequence{tokens: []int{1}}
	defer s.drop(r.cache)
	if err := s.reserve(r.cache, 1); err != nil {
		t.Fatal(err)
	}
	layers, enough := 0, errors.New("enough")
	err := r.eval(func() error {
		if layers++; layers == 2 {
			return enough
		}
		return nil
	}, []span{{seq: s, n: 1, wantScores: true}})
	if !errors.Is(err, enough) || s.evaluated != 0 {
		t.Errorf("%d tokens are evaluated, err = %v", s.evaluated, err)
	}
}

// TestEvalAllocatesNothing wants no allocations, because garbage collection
// would cost more than the evaluation.
func TestEvalAllocatesNothing(t *testing.T) {
	for name, path := range testModels(t) {
		t.Run(name, func(t *testing.T) {
			r := newTestRunner(t, path, "", 2)
			s := &sequence{tokens: make([]int, 60)}
			defer s.drop(r.cache)
			if err := s.reserve(r.cache, len(s.tokens)); err != nil {
				t.Fatal(err)
			}
			spans := []span{{seq: s, n: 1, wantScores: true}}
			n := testing.AllocsPerRun(50, func() {
				if err := r.eval(goOn, spans); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 {
				t.Errorf("evaluating a token makes %g allocations", n)
			}
		})
	}
}

// A tally counts how often each unit was computed.
type tally struct{ units []int }

func (c *tally) run(_, lo, hi int) {
	for i := lo; i < hi; i++ {
		c.units[i]++
	}
}

func TestPoolDoesEachUnitOnce(t *testing.T) {
	for _, size := range []int{1, 2, 3, 8} {
		p := newPool(size)
		for _, n := range []int{0, 1, 2, 3, 7, 64, 1000} {
			for _, grain := range []int{0, 1, 3, 100} {
				c := &tally{units: make([]int, n)}
				p.do(c, n, grain)
				for i, done := range c.units {
					if done != 1 {
						t.Fatalf("%d workers, %d units, grain %d: unit %d was done %d times", size, n, grain, i, done)
					}
				}
			}
		}
		p.close()
	}
}

package llama

import (
	"math"
	"testing"
)

// TestSource compares with numbers of xorshift64* that were computed with
// integers of arbitrary size.
func TestSource(t *testing.T) {
	cases := map[uint64][]uint32{
		0x1:                {4711630, 11259814, 12177677, 5092376, 942489},
		0x3039:             {9983995, 12635834, 1284558, 12349299, 2005217},
		0xffffffffffffffff: {16329929, 9434244, 3435669, 12932812, 7089509},
	}
	for seed, want := range cases {
		s := newSource(seed)
		for i, w := range want {
			if got := s.float32(); got != float32(w)/(1<<24) {
				t.Errorf("number %d of seed %d is %v, want %v", i, seed, got, float32(w)/(1<<24))
			}
		}
	}
	zero := newSource(0)
	if zero.float32() == zero.float32() {
		t.Error("the seed 0 gives the same numbers")
	}
}

func scores(probabilities ...float64) []float32 {
	out := make([]float32, len(probabilities))
	for i, p := range probabilities {
		out[i] = float32(math.Log(p))
	}
	return out
}

func TestBest(t *testing.T) {
	var s sampler
	s.start(Sampling{TopP: .9})
	if got := s.next([]float32{1, 3, 3, 2}); got != 1 {
		t.Errorf("token is %d, want the first of the best, 1", got)
	}
	if s.random != newSource(0) {
		t.Error("the best token took a random number")
	}
}

func TestPick(t *testing.T) {
	p := []float32{.125, .5, .25, .125}
	for coin, want := range map[float32]int{0: 0, .124: 0, .125: 1, .624: 1, .625: 2, .875: 3, .99999: 3, 1: 3} {
		if got := pick(p, coin); got != want {
			t.Errorf("token for coin %v is %d, want %d", coin, got, want)
		}
	}
}

func TestPickTop(t *testing.T) {
	p := []float32{.125, .5, .25, .125}
	cases := map[string]struct {
		topP, coin float32
		want       int
	}{
		"OnlyTheBest":      {.4, .999, 1},
		"TwoLow":           {.7, .66, 1},
		"TwoHigh":          {.7, .67, 2}, // .67 * .75 > .5
		"ExactlyReached":   {.75, .99, 0},
		"TieLowestFirst":   {.8, .99, 0},
		"NearlyAll":        {.99, .9, 3},
		"CoinZero":         {.99, 0, 1},
		"NothingOverwhole": {.999999, .99999, 3},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := sampler{Sampling: Sampling{Temperature: 1, TopP: c.topP}}
			if got := s.pickTop(p, c.coin); got != c.want {
				t.Errorf("token is %d, want %d", got, c.want)
			}
		})
	}
	one := sampler{Sampling: Sampling{Temperature: 1, TopP: .5}}
	if got := one.pickTop([]float32{1}, .5); got != 0 {
		t.Errorf("token of a vocabulary of one is %d", got)
	}
}

// TestFrequencies compares the frequencies of many draws with the
// probabilities.
func TestFrequencies(t *testing.T) {
	cases := map[string]struct {
		s    Sampling
		want []float64
	}{
		"All":          {Sampling{Temperature: 1, TopP: 1, Seed: 9}, []float64{.1, .2, .3, .4}},
		"TopPZero":     {Sampling{Temperature: 1, TopP: 0, Seed: 9}, []float64{.1, .2, .3, .4}},
		"Top":          {Sampling{Temperature: 1, TopP: .65, Seed: 9}, []float64{0, 0, 3. / 7, 4. / 7}},
		"Cold":         {Sampling{Temperature: .5, TopP: 1, Seed: 9}, []float64{1. / 30, 4. / 30, 9. / 30, 16. / 30}},
		"ColdTop":      {Sampling{Temperature: .5, TopP: .8, Seed: 9}, []float64{0, 0, 9. / 25, 16. / 25}},
		"Frozen":       {Sampling{Temperature: 1e-40, TopP: .9, Seed: 9}, []float64{0, 0, 0, 1}},
		"AlmostFrozen": {Sampling{Temperature: 1e-3, TopP: .9, Seed: 9}, []float64{0, 0, 0, 1}},
	}
	const draws = 20000
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var s sampler
			s.start(c.s)
			counts := make([]float64, len(c.want))
			for range draws {
				counts[s.next(scores(.1, .2, .3, .4))]++
			}
			for i, want := range c.want {
				if got := counts[i] / draws; math.Abs(got-want) > .015 {
					t.Errorf("token %d comes with frequency %v, want %v", i, got, want)
				}
			}
		})
	}
}

func FuzzSampler(f *testing.F) {
	f.Add(float32(.8), float32(.9), uint64(1), float32(1), float32(2), float32(3))
	f.Add(float32(1e-38), float32(1e-38), uint64(0), float32(math.Inf(1)), float32(math.NaN()), float32(math.Inf(-1)))
	f.Fuzz(func(t *testing.T, temperature, topP float32, seed uint64, a, b, c float32) {
		var s sampler
		s.start(Sampling{Temperature: temperature, TopP: topP, Seed: seed})
		if got := s.next([]float32{a, b, c}); got < 0 || got > 2 {
			t.Errorf("token is %d", got)
		}
	})
}

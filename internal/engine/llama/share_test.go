package llama

import (
	"slices"
	"testing"
)

func TestShare(t *testing.T) {
	many := slices.Repeat([]int{1}, 31)
	for name, c := range map[string]struct {
		pending []int
		turn    int
		want    []int
	}{
		"None":        {nil, 0, []int{}},
		"Nothing":     {[]int{0, 0}, 3, []int{0, 0}},
		"Alone":       {[]int{100}, 7, []int{32}},
		"ShortPrompt": {[]int{5}, 0, []int{5}},
		"Generating":  {[]int{1, 1, 1}, 1, []int{1, 1, 1}},
		"Joining":     {[]int{1, 100, 1}, 0, []int{1, 30, 1}},
		"FirstTurn":   {[]int{40, 1, 40}, 0, []int{31, 1, 0}},
		"SecondTurn":  {[]int{40, 1, 40}, 1, []int{0, 1, 31}},
		"TurnsRepeat": {[]int{40, 1, 40}, 2, []int{31, 1, 0}},
		"Rest":        {[]int{10, 40}, 0, []int{10, 22}},
		"Paused":      {[]int{0, 40, 1}, 5, []int{0, 31, 1}},
		"ManySlots":   {append(slices.Clone(many), 40), 0, append(slices.Clone(many), 8)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := share(c.pending, c.turn); !slices.Equal(got, c.want) {
				t.Errorf("share is %v, want %v", got, c.want)
			}
		})
	}
}

// TestShareIsFairAndBounded wants progress for each prompt within as many turns as
// there are prompts, and batches that the runner holds.
func TestShareIsFairAndBounded(t *testing.T) {
	rng := newRand()
	for range 200 {
		pending := make([]int, 1+rng.IntN(MaxSlots))
		for i := range pending {
			pending[i] = rng.IntN(50)
		}
		got := make([]int, len(pending))
		for turn := range pending {
			total := 0
			for i, n := range share(pending, turn) {
				got[i] += n
				total += n
				if n > pending[i] {
					t.Fatalf("share of %v gives sequence %d %d tokens", pending, i, n)
				}
			}
			if total > batchSize+leastPrompt {
				t.Fatalf("share of %v is a batch of %d", pending, total)
			}
		}
		for i, n := range got {
			if pending[i] > 0 && n == 0 {
				t.Fatalf("share of %v never serves sequence %d", pending, i)
			}
		}
	}
}

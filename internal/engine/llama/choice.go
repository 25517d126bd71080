package llama

import (
	"math"
	"slices"
)

// MaxAlternatives is the most alternatives of a token that a request may want.
const MaxAlternatives = 20

// A Choice is a token of an answer, with its probability by the model's scores:
// before temperature, top-p and mask.
type Choice struct {
	Token        int
	Text         string        // its bytes, which may be a part of a character; "" if it adds no text
	LogProb      float32       // natural logarithm
	Alternatives []Alternative // the most probable tokens, the best first
}

// An Alternative is a token that the model could have chosen.
type Alternative struct {
	Token   int
	Text    string // as the vocabulary has it
	LogProb float32
}

// logSum returns the logarithm of the sum of e^score.
func logSum(scores []float32) float64 {
	top := float64(slices.Max(scores))
	var sum float64
	for _, v := range scores {
		sum += math.Exp(float64(v) - top)
	}
	return top + math.Log(sum)
}

// alternatives returns the n best tokens. Of equal ones it takes the first.
func alternatives(scores []float32, norm float64, n int) []Alternative {
	best := make([]Alternative, 0, n+1)
	for token, score := range scores {
		if n == 0 || len(best) == n && score <= best[n-1].LogProb {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, score, func(a Alternative, s float32) int {
			if a.LogProb >= s {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, Alternative{Token: token, LogProb: score})
		best = best[:min(len(best), n)]
	}
	for i := range best {
		best[i].LogProb = float32(float64(best[i].LogProb) - norm)
	}
	return best
}

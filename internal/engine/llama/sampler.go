package llama

import (
	"slices"

	"github.com/gorizond/koldun/internal/engine/llama/kernel"
)

// Sampling holds the parameters for choosing a token by the model's scores.
type Sampling struct {
	Temperature float32 // divides the scores; 0 always chooses the best token
	// TopP keeps only the most probable tokens whose probabilities together
	// exceed it. Values <= 0 and >= 1 keep all tokens.
	TopP float32
	Seed uint64 // seed of the random numbers; the same seed gives the same answer
}

// coldest is the temperature below which the sampler takes the best token:
// others have no chance, and the scores would overflow float32.
const coldest = 1e-4

// seedForZero replaces the seed 0, with which the generator returns only
// zeros.
const seedForZero = 0x9E3779B97F4A7C15

// A source generates random numbers with xorshift64*, as distributed-llama
// does.
type source uint64

func newSource(seed uint64) source {
	if seed == 0 {
		seed = seedForZero
	}
	return source(seed)
}

// float32 returns a number in [0, 1) of 24 random bits.
func (s *source) float32() float32 {
	*s ^= *s >> 12
	*s ^= *s << 25
	*s ^= *s >> 27
	u := uint32(uint64(*s) * 0x2545F4914F6CDD1D >> 32)
	return float32(u>>8) / (1 << 24)
}

// A sampler chooses tokens, for one answer at a time. It is not safe for
// concurrent use.
type sampler struct {
	Sampling
	random source
	sorted []candidate
}

type candidate struct {
	token       int
	probability float32
}

// start resets the sampler for a new answer.
func (s *sampler) start(p Sampling) {
	s.Sampling = p
	s.random = newSource(p.Seed)
}

// next returns a token. It overwrites the scores.
func (s *sampler) next(scores []float32) int {
	if s.Temperature < coldest {
		return best(scores)
	}
	for i := range scores {
		scores[i] /= s.Temperature
	}
	kernel.Portable().Softmax(scores)
	coin := s.random.float32()
	if s.TopP <= 0 || s.TopP >= 1 {
		return pick(scores, coin)
	}
	return s.pickTop(scores, coin)
}

// best returns the first token with the highest score.
func best(scores []float32) int {
	top := 0
	for i, v := range scores {
		if v > scores[top] {
			top = i
		}
	}
	return top
}

// pick returns the first token at which the sum of probabilities exceeds coin.
func pick(probabilities []float32, coin float32) int {
	var sum float32
	for i, p := range probabilities {
		sum += p
		if coin < sum {
			return i
		}
	}
	return len(probabilities) - 1 // rounding left the sum below the coin
}

// pickTop picks one of the most probable tokens.
func (s *sampler) pickTop(probabilities []float32, coin float32) int {
	// A token below the cutoff cannot be one of them: if all other tokens were
	// as improbable, they would not reach 1 - TopP together.
	cutoff := (1 - s.TopP) / float32(len(probabilities)-1)
	s.sorted = s.sorted[:0]
	for i, p := range probabilities {
		if p >= cutoff {
			s.sorted = append(s.sorted, candidate{i, p})
		}
	}
	if len(s.sorted) == 0 {
		return best(probabilities)
	}
	slices.SortFunc(s.sorted, func(a, b candidate) int {
		switch {
		case a.probability > b.probability:
			return -1
		case a.probability < b.probability:
			return 1
		}
		return a.token - b.token
	})
	var sum float32
	kept := s.sorted
	for i, c := range s.sorted {
		sum += c.probability
		if sum > s.TopP {
			kept = s.sorted[:i+1]
			break
		}
	}
	r := coin * sum
	var reached float32
	for _, c := range kept {
		reached += c.probability
		if r < reached {
			return c.token
		}
	}
	return kept[len(kept)-1].token
}

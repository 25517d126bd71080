package llama

import "slices"

// Sampling says how the next token is chosen from the model's scores.
type Sampling struct {
	Temperature float32 // 0: always the best token; else scores are divided by it
	// TopP keeps only the most probable tokens, until their probabilities
	// together exceed it. 0 or less, and 1 or more, keep all.
	TopP float32
	Seed uint64 // of the random numbers; the same seed gives the same answer
}

// coldest is the temperature below which only the best token has a chance, and
// scores would soon leave the range of float32.
const coldest = 1e-4

// seedForZero stands for the seed 0, from which the generator would only ever
// make zeros.
const seedForZero = 0x9E3779B97F4A7C15

// A source makes random numbers: xorshift64*, as distributed-llama.
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

// A sampler chooses tokens for one answer after the other. Not safe for
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

// start begins an answer.
func (s *sampler) start(p Sampling) {
	s.Sampling = p
	s.random = newSource(p.Seed)
}

// next chooses a token and changes the scores.
func (s *sampler) next(scores []float32) int {
	if s.Temperature < coldest {
		return best(scores)
	}
	for i := range scores {
		scores[i] /= s.Temperature
	}
	softmax(scores)
	coin := s.random.float32()
	if s.TopP <= 0 || s.TopP >= 1 {
		return pick(scores, coin)
	}
	return s.pickTop(scores, coin)
}

// best is the first of the highest scores.
func best(scores []float32) int {
	top := 0
	for i, v := range scores {
		if v > scores[top] {
			top = i
		}
	}
	return top
}

// pick is the first token at which the summed probabilities exceed coin.
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

// pickTop picks among the most probable tokens.
func (s *sampler) pickTop(probabilities []float32, coin float32) int {
	// What is below the cutoff cannot be among them: all others together do
	// not reach 1 - TopP with such shares.
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

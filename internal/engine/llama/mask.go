package llama

import (
	"math"

	"github.com/gorizond/koldun/internal/fault"
)

// A Mask says which tokens may follow the answer so far. It must be quick and not
// block, because all other requests wait for it. It may not keep or change the
// tokens. The set is valid until the next call.
type Mask func(answer []int) (TokenSet, error)

// A TokenSet is a set of tokens: bit t%64 of word t/64 is token t. Tokens beyond
// its end are not in the set. The nil set stands for all tokens.
type TokenSet []uint64

// Add puts a token into a set that is large enough.
func (s TokenSet) Add(token int) { s[token/64] |= 1 << (token % 64) }

// Has reports whether a token is in the set.
func (s TokenSet) Has(token int) bool {
	return s == nil || token/64 < len(s) && s[token/64]>>(token%64)&1 == 1
}

// apply excludes the tokens that are not in the set. The error is Invalid if no
// token is left.
func (s TokenSet) apply(scores []float32) error {
	if s == nil {
		return nil
	}
	left := false
	none := float32(math.Inf(-1))
	for at := 0; at < len(scores); at += 64 {
		var word uint64
		if at/64 < len(s) {
			word = s[at/64]
		}
		some := scores[at:min(at+64, len(scores))]
		switch word {
		case 0:
			for i := range some {
				some[i] = none
			}
			continue
		case math.MaxUint64:
			left = true
			continue
		}
		for i := range some {
			if word>>i&1 == 1 {
				left = true
			} else {
				some[i] = none
			}
		}
	}
	if !left {
		return fault.Errorf(fault.Invalid, "cannot choose a token: the mask of the request allows none")
	}
	return nil
}

package topology

import "github.com/gorizond/koldun/internal/fault"

// CheckNodes reports why the model cannot be spread onto n nodes, with buffers
// of type sync between them; nil if it can. The error is Invalid and names the
// number that does not divide.
//
// Every node gets whole key-value heads and the query heads that read them, so
// both counts must divide; feed-forward width and vocabulary are cut into equal
// parts; and a cut may not go through a block of a quantised type.
func (s Shape) CheckNodes(n int, sync FloatType) error {
	if n < 1 {
		return fault.Errorf(fault.Invalid, "cannot spread the model onto %d nodes: want at least 1", n)
	}
	if n > s.KVHeads {
		return fault.Errorf(fault.Invalid, "cannot spread the model onto %d nodes: it has only %d kv heads", n, s.KVHeads)
	}
	for _, f := range []struct {
		name string
		val  int
	}{
		{"kv heads", s.KVHeads},
		{"heads", s.Heads},
		{"feed-forward width", s.FFDim()},
		{"vocabulary", s.VocabSize},
	} {
		if f.val%n != 0 {
			return fault.Errorf(fault.Invalid, "cannot spread the model onto %d nodes: %d does not divide its %s of %d", n, n, f.name, f.val)
		}
	}
	if !s.Weights.Blocked() && !sync.Blocked() {
		return nil
	}
	for _, f := range []struct {
		name string
		val  int
	}{
		{"query width", s.QDim() / n},
		{"feed-forward width", s.FFDim() / n},
		{"width", s.Dim},
	} {
		if f.val%Block != 0 {
			return fault.Errorf(fault.Invalid, "cannot spread the model onto %d nodes: each would get a %s of %d, which is not a multiple of %d", n, f.name, f.val, Block)
		}
	}
	return nil
}

// Nodes lists the numbers of nodes onto which the model can be spread,
// ascending.
func (s Shape) Nodes(sync FloatType) []int {
	var legal []int
	for n := 1; n <= s.KVHeads; n++ {
		if s.CheckNodes(n, sync) == nil {
			legal = append(legal, n)
		}
	}
	return legal
}

package llama

// A sequence is a text in tokens, with the keys and values of those that are
// evaluated. It is not safe for concurrent use.
type sequence struct {
	tokens    []int
	evaluated int // the first so many tokens have keys and values
	blocks    []*kvBlock
	states    *pooled // collects the final states of all tokens, or nil
}

// pending returns the number of tokens that are not evaluated.
func (s *sequence) pending() int { return len(s.tokens) - s.evaluated }

// reserve takes the blocks for the next n tokens. With an error, the sequence
// keeps those that it got.
func (s *sequence) reserve(c *cache, n int) error {
	for len(s.blocks) < blocksFor(s.evaluated+n) {
		b, err := c.take()
		if err != nil {
			return err
		}
		s.blocks = append(s.blocks, b)
	}
	return nil
}

// drop releases all blocks: every token is pending again.
func (s *sequence) drop(c *cache) {
	for _, b := range s.blocks {
		c.release(b)
	}
	s.blocks, s.evaluated = nil, 0
	if s.states != nil {
		s.states.reset()
	}
}

// adopt makes the first n tokens of another sequence, which must be the same,
// the evaluated ones of s. It shares whole blocks and copies the rest, or leaves
// out the rest if no block is free. It reports whether s has more evaluated tokens
// than before.
func (s *sequence) adopt(c *cache, from *sequence, n int) bool {
	shared := n / blockTokens
	var rest *kvBlock
	if n%blockTokens > 0 {
		var err error
		if rest, err = c.take(); err != nil {
			n = shared * blockTokens
		}
	}
	if n <= s.evaluated {
		return false
	}
	blocks := make([]*kvBlock, shared, blocksFor(len(s.tokens)))
	for i, b := range from.blocks[:shared] {
		b.users++
		blocks[i] = b
	}
	if rest != nil {
		c.copyTo(rest, from.blocks[shared], n%blockTokens)
		blocks = append(blocks, rest)
	}
	s.drop(c)
	s.blocks, s.evaluated = blocks, n
	return true
}

// longestPrefix returns the sequence that shares most evaluated tokens with the
// given ones, and how many.
func longestPrefix(tokens []int, sequences func(yield func(*sequence) bool)) (best *sequence, n int) {
	for s := range sequences {
		if common := commonPrefix(s.tokens[:s.evaluated], tokens); common > n {
			best, n = s, common
		}
	}
	return best, n
}

func commonPrefix(a, b []int) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

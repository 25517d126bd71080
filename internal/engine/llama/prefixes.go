package llama

import "slices"

// prefixes are sequences that have ended, whose keys and values new sequences
// may reuse. The most recently used is last.
type prefixes struct {
	limit int
	kept  []*sequence
}

// keep adds a sequence, and forgets those that it continues and, beyond the
// limit, the least recently used.
func (p *prefixes) keep(c *cache, s *sequence) {
	s.tokens = s.tokens[:s.evaluated]
	s.states = nil
	p.kept = slices.DeleteFunc(p.kept, func(old *sequence) bool {
		continued := commonPrefix(old.tokens, s.tokens) == len(old.tokens)
		if continued {
			old.drop(c)
		}
		return continued
	})
	p.kept = append(p.kept, s)
	if len(p.kept) > p.limit {
		p.forget(c)
	}
}

// forget drops the least recently used sequence and reports whether there was
// one.
func (p *prefixes) forget(c *cache) bool {
	if len(p.kept) == 0 {
		return false
	}
	p.kept[0].drop(c)
	p.kept = slices.Delete(p.kept, 0, 1)
	return true
}

// use marks a sequence as the most recently used, if it is one of these.
func (p *prefixes) use(s *sequence) {
	if i := slices.Index(p.kept, s); i >= 0 {
		p.kept = append(slices.Delete(p.kept, i, i+1), s)
	}
}

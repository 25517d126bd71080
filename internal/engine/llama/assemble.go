package llama

// assemble makes the next batch and reports whether there is anything to
// compute. If the prompts whose turn it is find no memory, others get their turn.
func (s *scheduler) assemble() bool {
	for range len(s.jobs) {
		s.share()
		s.turns++
		if s.reserveAll(); len(s.spans) > 0 {
			return true
		}
	}
	return false
}

// share sets how many tokens of each job the next batch evaluates. A job starts
// when its whole prompt finds memory, and not before older ones.
func (s *scheduler) share() {
	s.pending = s.pending[:0]
	waiting := false
	for i, j := range s.jobs {
		n := j.seq.pending()
		if len(j.seq.blocks) == 0 && (waiting || i > 0 && !s.fits(j)) {
			waiting, n = true, 0
		}
		if j.paused() {
			n = 0
		}
		s.pending = append(s.pending, n)
	}
	for i, n := range share(s.pending, s.turns) {
		s.jobs[i].n = n
	}
}

// fits reports whether the blocks that no other job uses hold the tokens of a job
// and another one. The oldest job always fits: younger ones give up theirs.
func (s *scheduler) fits(j *job) bool {
	need := blocksFor(len(j.seq.tokens) + 1)
	if _, n := longestPrefix(j.seq.tokens, s.running(j)); s.reuses(j) {
		need -= n / blockTokens
	}
	return s.runner.cache.count(s.running(j))+need <= s.runner.cache.limit
}

// reserveAll makes the spans of the batch, with memory for them.
func (s *scheduler) reserveAll() {
	s.spans = s.spans[:0]
	for i := 0; i < len(s.jobs); i++ {
		j := s.jobs[i]
		if j.n == 0 {
			continue
		}
		if s.reuses(j) {
			s.reuse(j)
		}
		if err := s.reserve(i); err != nil {
			s.end(j, err)
			i--
			continue
		}
		if j.n > 0 {
			s.spans = append(s.spans, span{seq: j.seq, n: j.n, wantScores: j.answer != nil && j.n == j.seq.pending()})
		}
	}
}

// reserve takes blocks for the tokens of a job, if need be from sequences that
// have ended, and then from younger jobs. If there are none, the job waits.
func (s *scheduler) reserve(i int) error {
	j := s.jobs[i]
	for {
		err := j.seq.reserve(s.runner.cache, j.n)
		switch {
		case err == nil:
			return nil
		case s.prefixes.forget(s.runner.cache), s.preempt(i):
		case i > 0:
			j.n = 0
			return nil
		default:
			return err
		}
	}
}

// preempt takes the blocks of the youngest job after the given one, and reports
// whether there was one. It evaluates its tokens again later, with the same
// results.
func (s *scheduler) preempt(after int) bool {
	for i := len(s.jobs) - 1; i > after; i-- {
		if j := s.jobs[i]; len(j.seq.blocks) > 0 {
			j.seq.drop(s.runner.cache)
			j.n, j.result.CachedTokens = 0, 0
			return true
		}
	}
	return false
}

// reuses reports whether a job may use keys and values of other sequences: its
// prompt needs no states.
func (s *scheduler) reuses(j *job) bool {
	return !s.alone && j.seq.pending() > 1 && (j.seq.states == nil || j.seq.states.how == PoolLast)
}

// reuse takes over the longest prefix that another sequence has evaluated. It
// leaves the last token, whose scores are needed.
func (s *scheduler) reuse(j *job) {
	tokens, had := j.seq.tokens[:len(j.seq.tokens)-1], j.seq.evaluated
	from, n := longestPrefix(tokens, s.others(j))
	if n <= had || !j.seq.adopt(s.runner.cache, from, n) {
		return
	}
	s.prefixes.use(from)
	if j.first.IsZero() {
		j.result.CachedTokens += j.seq.evaluated - had
	}
	j.n = min(j.n, j.seq.pending())
}

// running returns the sequences of all jobs but one.
func (s *scheduler) running(but *job) func(yield func(*sequence) bool) {
	return func(yield func(*sequence) bool) {
		for _, j := range s.jobs {
			if j != but && !yield(j.seq) {
				return
			}
		}
	}
}

// others returns all sequences with keys and values but one.
func (s *scheduler) others(but *job) func(yield func(*sequence) bool) {
	return func(yield func(*sequence) bool) {
		for _, kept := range s.prefixes.kept {
			if !yield(kept) {
				return
			}
		}
		s.running(but)(yield)
	}
}

package llama

import (
	"context"
	"errors"
	"slices"
	"time"
)

// A scheduler computes jobs together. Its goroutine, run, owns the runner, the
// cache and the sequences of the jobs. Before each batch it takes in new jobs and
// lets go of those that have ended.
type scheduler struct {
	runner   *runner
	prefixes prefixes
	alone    bool // no sequence reuses the keys and values of another

	arriving chan *job     // one place per slot
	awake    chan struct{} // holds a token after poke
	ended    chan struct{} // closed when run returns

	jobs  []*job // oldest first
	turns int    // of prompts

	pending  []int  // of the jobs
	spans    []span // of the current batch
	choosing choosing
}

func newScheduler(r *runner, slots int, alone bool) *scheduler {
	return &scheduler{
		runner: r, alone: alone, prefixes: prefixes{limit: slots},
		arriving: make(chan *job, slots), awake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
}

// poke makes run look at its jobs again, if it waits.
func (s *scheduler) poke() {
	select {
	case s.awake <- struct{}{}:
	default:
	}
}

// run computes jobs until life ends; then it ends all of them with ErrClosed.
func (s *scheduler) run(life context.Context) {
	defer close(s.ended)
	for life.Err() == nil {
		s.admit()
		s.release()
		if !s.assemble() {
			select {
			case j := <-s.arriving:
				s.begin(j)
			case <-s.awake:
			case <-life.Done():
			}
			continue
		}
		s.compute(life)
	}
	s.admit()
	s.endAll(ErrClosed)
	for s.prefixes.forget(s.runner.cache) {
	}
}

// admit takes in the jobs that have arrived.
func (s *scheduler) admit() {
	for {
		select {
		case j := <-s.arriving:
			s.begin(j)
		default:
			return
		}
	}
}

func (s *scheduler) begin(j *job) {
	j.began = time.Now()
	if j.answer != nil {
		j.out <- Piece{Text: j.begun}
	}
	s.jobs = append(s.jobs, j)
}

// release ends the jobs whose callers have gone.
func (s *scheduler) release() {
	for _, j := range slices.Clone(s.jobs) {
		if j.ctx.Err() != nil {
			s.end(j, context.Cause(j.ctx))
		}
	}
}

// compute evaluates the batch and passes on its results.
func (s *scheduler) compute(life context.Context) {
	err := s.runner.eval(func() error { return s.abandoned(life) }, s.spans)
	switch {
	case errors.Is(err, errAbandoned):
		return
	case err != nil:
		s.endAll(err)
		return
	}
	s.choosing.do(s.runner, s.jobs, s.spans)
	for _, j := range slices.Clone(s.jobs) {
		if j.n == 0 || j.seq.pending() > 0 {
			continue
		}
		if done, err := j.advance(); done || err != nil {
			s.end(j, err)
		}
	}
}

var errAbandoned = errors.New("nobody waits for the batch")

// abandoned returns errAbandoned if nobody waits for the batch.
func (s *scheduler) abandoned(life context.Context) error {
	if life.Err() != nil {
		return errAbandoned
	}
	for _, j := range s.jobs {
		if j.n > 0 && j.ctx.Err() == nil {
			return nil
		}
	}
	return errAbandoned
}

// end lets go of a job. It keeps the keys and values of a job that did not fail.
func (s *scheduler) end(j *job, err error) {
	s.jobs = slices.DeleteFunc(s.jobs, func(other *job) bool { return other == j })
	failed := err != nil && j.ctx.Err() == nil
	if s.alone || failed || j.seq.evaluated == 0 {
		j.seq.drop(s.runner.cache)
	} else {
		s.prefixes.keep(s.runner.cache, j.seq)
	}
	j.end(err)
}

func (s *scheduler) endAll(err error) {
	for _, j := range s.jobs {
		j.seq.drop(s.runner.cache)
		j.end(err)
	}
	s.jobs = nil
}

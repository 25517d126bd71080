package llama

import (
	"context"
	"time"
)

// ahead is how many pieces of an answer wait for their reader before the sequence
// pauses.
const ahead = 256

// A job is what a scheduler computes for one call: an answer, or without one the
// pooled states of a text. The scheduler closes out; before, it sets err and
// result.
type job struct {
	ctx    context.Context //nolint:containedctx // of the call
	seq    *sequence
	answer *answer
	begun  string // text with which the answer begins
	out    chan Piece
	err    error
	result Result
	vector []float32 // the pooled states

	began, first time.Time // when it got its slot, and its first token

	// Of the current batch.
	n      int // tokens
	token  int
	failed error
}

// paused reports whether the reader is too slow for another piece.
func (j *job) paused() bool { return len(j.out) > ahead-2 }

// advance takes the token that was chosen, once all tokens are evaluated, and
// reports whether the job is done.
func (j *job) advance() (done bool, err error) {
	if j.answer == nil {
		j.vector = j.seq.states.vector()
		return true, nil
	}
	if j.failed != nil {
		return true, j.failed
	}
	if len(j.answer.tokens) == 0 {
		j.first = time.Now()
	}
	if done, err = j.answer.add(j.token); !done {
		j.seq.tokens = append(j.seq.tokens, j.token)
	}
	return done, err
}

// end reports the job to its caller.
func (j *job) end(err error) {
	j.err = err
	if a := j.answer; a != nil {
		j.result.Tokens, j.result.Finish, j.result.Stop = len(a.tokens), a.finish, a.stop
	}
	if !j.first.IsZero() {
		j.result.PromptTime, j.result.AnswerTime = j.first.Sub(j.began), time.Since(j.first)
	}
	close(j.out)
}

package sidecar

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// Causes for cancelling an attempt.
var (
	errCancelled  = errors.New("the request was cancelled")
	errHandedBack = errors.New("the runner is draining")
	errTimeout    = errors.New("the answer took longer than it may")
	errDeadline   = errors.New("the request has reached its time limit")
	// errStopped ends a generation at a stop sequence. It is no failure.
	errStopped = errors.New("a stop sequence came")
)

// An attempt is one attempt of a request.
type attempt struct {
	assignment queue.Assignment
	ctx        context.Context //nolint:containedctx // of the attempt, handed to who works on it
	cancel     context.CancelCauseFunc
	started    time.Time
	honours    []string        // parameters that the engine honours
	features   openai.Features // that the engine offers
	frames     *frameLog
	heard      atomic.Int64 // when the engine last sent something for it, in ns since 1970; 0: never

	// The runner's mutex guards these:
	inputs    int       // that the server counts as requests
	first     time.Time // time of the first text
	givenBack bool      // handed back: it must send no text
}

// held is called with the runner's mutex held.
func (a *attempt) held() queue.HeldAttempt {
	return queue.HeldAttempt{
		Request: a.assignment.Request.Ref(),
		Epoch:   a.assignment.Epoch,
		Attempt: a.assignment.Attempt,
		Started: a.started,
		Text:    !a.first.IsZero(),
	}
}

// midSilence returns the middle of the time for which the engine has sent nothing
// for the attempt. An engine that hangs falls silent for all attempts at nearly the
// same time, and so may have sent the last text of another one a little later.
func (a *attempt) midSilence(now time.Time) int64 {
	since := max(a.heard.Load(), a.started.UnixNano())
	return since + (now.UnixNano()-since)/2
}

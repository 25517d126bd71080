package sidecar

import (
	"errors"
	"fmt"
	"time"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// An engineState is what a runner knows of its engine. The runner's mutex guards it, because
// a record and the answer to an assignment show it together with the running attempts.
type engineState struct {
	ready    bool                 // whether it has generated a token
	reason   error                // why it has not, for the health address; nil: it has, or has not been asked
	progress string               // what it does, while it loads; "" if unknown
	hangs    bool                 // whether it was silent for too long, and nothing was done about it yet
	hungAt   time.Time            // when it was last found to hang; zero: it has generated since
	refused  int                  // how often in a row it was too busy for requests
	busy     *engineapi.BusyError // its last refusal, until it has generated; nil: none
	endings  int                  // how often it has ended

	// These are known once it is ready, and never changed in place.
	honours    []string           // hints that it honours
	operations []openai.Operation // that it lists
	features   openai.Features    // that it offers
}

// setReady reports whether it changes the state.
func (s *engineState) setReady(ready bool) (changed bool) {
	if s.ready == ready {
		return false
	}
	s.ready, s.progress = ready, ""
	return true
}

// tried learns from an attempt to get a token, which ended with err. generates means that
// the engine sent something for a running attempt meanwhile. It deletes the progress of an
// engine that does not load, and reports whether the record changes.
func (s *engineState) tried(err error, generates bool) (changed bool) {
	s.hangs = errors.Is(err, engineapi.ErrTimeout) && !generates
	s.reason = err
	changed = s.setBusy(err)
	if errors.Is(err, engineapi.ErrLoading) || s.progress == "" {
		return changed
	}
	s.progress = ""
	return true
}

// setBusy notes whether an attempt ended by a refusal of a busy server, and reports whether
// that differs from the one before.
func (s *engineState) setBusy(err error) (changed bool) {
	var busy *engineapi.BusyError
	errors.As(err, &busy)
	changed = (busy == nil) != (s.busy == nil) || busy != nil && *busy != *s.busy
	s.busy = busy
	return changed
}

// refusal returns what a server that takes no requests for now has said, or nil.
func (s *engineState) refusal() *queue.Failure {
	if s.ready || s.busy == nil {
		return nil
	}
	return busyFailure(s.busy)
}

// pause returns how long to wait before the next attempt to get a token: at least as long
// as a busy server asks for, up to a bound.
func (s *engineState) pause(least time.Duration) time.Duration {
	if s.busy == nil {
		return least
	}
	return max(least, min(s.busy.RetryAfter, maxPause))
}

// setProgress reports whether it changes the state.
func (s *engineState) setProgress(progress string) (changed bool) {
	if s.ready || s.progress == progress {
		return false
	}
	s.progress = progress
	return true
}

// learn keeps what an engine that has generated a token can do.
func (s *engineState) learn(res engineapi.Result) {
	s.hungAt = time.Time{}
	s.honours, s.operations, s.features = res.Honours, res.Operations, res.Features
}

// attempted learns from an attempt that ended with err. generates means that the engine
// sent something for another one after it had fallen silent for this one.
func (s *engineState) attempted(err error, healthy, generates bool) {
	switch {
	case errors.Is(err, engineapi.ErrTimeout): // the engine sent nothing for too long
		s.hangs = !generates
	case healthy:
		s.hangs = false
	}
	switch {
	case err == nil:
		s.refused = 0
	case errors.Is(err, engineapi.ErrBusy) && s.ready: // refusals at the same time count once
		s.refused++
		s.reason = err
		s.setBusy(err)
	}
	s.ready = s.ready && healthy
}

// takeHang reports whether the engine hangs since the last call, and notes the time.
func (s *engineState) takeHang(now time.Time) bool {
	if !s.hangs {
		return false
	}
	s.hangs, s.hungAt = false, now
	return true
}

// tokenless says why no token has come out of the engine.
func (s *engineState) tokenless() error {
	const text = "no token has come out of the engine yet"
	switch {
	case s.progress != "":
		return errors.New(text + ": it is " + s.progress)
	case s.reason != nil:
		return fmt.Errorf(text+": %w", s.reason)
	}
	return errors.New(text)
}

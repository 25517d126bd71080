package gateway

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/network/httpserver"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// Outcomes of a generation beside queue.Completed and the codes of refusals.
const (
	outcomeDisconnected = "disconnected" // the client did not wait
	outcomeShutdown     = "shutdown"
	outcomeInternal     = "internal"
	outcomeTooLong      = "too-long"
)

// A reply brings the answer to a request from the queue to the client: in one piece
// (collect) or as it comes (stream).
type reply struct {
	g         *Gateway
	in        incoming
	operation operation
	model     string // "namespace/name", "" until it is resolved
	ref       queue.Ref
	index     int // of the choice, if the client wants several

	// How the client wants the answer.
	streamed     bool
	includeUsage bool     // in the stream
	base64       bool     // embeddings
	leftOut      []string // kinds of parts of the request that no engine gets
	filter       reasoningFilter

	limit time.Duration // for the request from its arrival to its end; 0: none
	// until is the time when the gateway gives the request up. Dispatcher and
	// runner hold the same limits, but they may be gone.
	until   time.Time
	follow  follower
	outcome string // how it ended, or ""
}

// without lists all that has no effect: what the engine ignores, and what it does not get.
func (t *reply) without(ignored []string) []string {
	out := slices.Clone(ignored)
	for _, kind := range t.leftOut {
		if !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	return out
}

// summary returns what is logged and traced of the request.
func (t *reply) summary() summary {
	return summary{operation: t.operation.label, model: t.model, outcome: t.outcome, usage: t.follow.frame.Usage}
}

// givesUp returns when the gateway gives up a request that starts now.
func (t *reply) givesUp(now time.Time) time.Time {
	g := t.g
	until := now.Add(g.cfg.QueueTimeout + g.cfg.ResponseTimeout + g.timing.backstop)
	if t.limit == 0 {
		return until
	}
	if limited := t.in.begun.Add(t.limit + g.timing.overdue); limited.Before(until) {
		return limited
	}
	return until
}

// late returns the refusal of a request that the gateway gives up.
func (t *reply) late() *refusal {
	if t.limit > 0 && time.Since(t.in.begun) >= t.limit {
		return errDeadline(t.limit)
	}
	return errTimeout()
}

var errBackstop = errors.New("the request outlived all its limits")

// contextRefusal returns why waiting ended: the outcome, and the refusal to
// write unless the client is gone.
func (t *reply) contextRefusal(ctx context.Context) (outcome string, refused *refusal) {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errBackstop):
		refused = t.late()
		return refused.Code, refused
	case errors.Is(cause, httpserver.ErrShutdown):
		return outcomeShutdown, errShutdown()
	case cause != nil:
		return outcomeDisconnected, nil
	}
	return outcomeInternal, errInternal()
}

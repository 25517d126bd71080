package sidecar

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/telemetry"
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
	r          *runner
	assignment queue.Assignment
	ctx        context.Context //nolint:containedctx // of the attempt, handed to who works on it
	cancel     context.CancelCauseFunc
	started    time.Time
	honours    []string        // parameters that the engine honours
	features   openai.Features // that the engine offers
	frames     *frameLog
	traced     trace.Span
	heard      atomic.Int64 // when the engine last sent something for it, in ns since 1970; 0: never

	// The mutex of r guards these:
	inputs    int       // that the server counts as requests
	first     time.Time // time of the first text
	givenBack bool      // handed back: it must send no text
}

// sends notes how many inputs the attempt is about to send.
func (a *attempt) sends(inputs int) {
	a.r.mu.Lock()
	defer a.r.mu.Unlock()
	a.r.slots.sends(a, inputs)
}

// held is called with r.mu held.
func (a *attempt) held() queue.HeldAttempt {
	return queue.HeldAttempt{
		Request: a.assignment.Request.Ref(),
		Epoch:   a.assignment.Epoch,
		Attempt: a.assignment.Attempt,
		Started: a.started,
		Text:    !a.first.IsZero(),
	}
}

// begin starts an attempt in a free slot. It is called with mu held.
func (r *runner) begin(as queue.Assignment) {
	ctx, cancel := r.work()
	a := &attempt{r: r, assignment: as, ctx: ctx, cancel: cancel, started: time.Now(), honours: r.engine.honours, features: r.engine.features, inputs: 1}
	a.frames = newFrameLog(r.requests, r.cfg.Logger, as)
	r.logs.add(a.frames)
	r.slots.begin(a)
	r.changedByRequest()
	r.begun <- a // there is room: it holds only attempts that run
}

// attempts runs the attempts of one slot in sequence until ctx ends. It uses one
// goroutine for all of them, because growing the stack of a new one costs as much
// as the attempt.
func (r *runner) attempts(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-r.begun:
			a.run(a.ctx)
			a.cancel(nil)
		}
	}
}

func (a *attempt) run(ctx context.Context) {
	a.log(slog.LevelDebug, "attempt starts", slog.Uint64("epoch", a.assignment.Epoch))
	end := queue.AttemptEnd{
		Request: a.assignment.Request.ID,
		Epoch:   a.assignment.Epoch,
		Attempt: a.assignment.Attempt,
		Runner:  a.r.cfg.Runner,
		Started: a.started,
	}
	ctx, span := a.span(ctx)
	defer span.End()
	healthy := true
	reason, usage, err := a.generate(ctx)
	end.Usage = usage
	if err == nil {
		end.FinishReason = reason
		a.frames.add(queue.Frame{Kind: queue.FrameEnd, FinishReason: reason, Usage: &usage})
	} else {
		a.frames.release() // before the error is reported
		end.Error, healthy = a.failure(err)
		a.log(slog.LevelWarn, "attempt failed",
			slog.String("code", end.Error.Code), slog.Bool("healthy", healthy), slog.String("reason", end.Error.Message))
	}
	end.Ended = time.Now()
	annotate(span, end)
	a.r.finish(a, end, healthy, err)
	a.log(slog.LevelDebug, "attempt ended",
		slog.Int("tokens", usage.CompletionTokens), slog.Int64("ms", end.Ended.Sub(a.started).Milliseconds()))
}

// log logs a message with the attempt's attributes. A separate logger per attempt
// would cost more than the few messages.
func (a *attempt) log(level slog.Level, text string, attrs ...slog.Attr) {
	log := a.r.cfg.Logger
	if !log.Enabled(a.ctx, level) {
		return
	}
	log.With("request", a.assignment.Request.ID, "attempt", a.assignment.Attempt).LogAttrs(a.ctx, level, text, attrs...)
}

// generate drives the engine and returns why and with what usage it ended.
func (a *attempt) generate(ctx context.Context) (string, queue.Usage, error) {
	req := a.assignment.Request
	ask, about, err := engineapi.Decode(req.Operation, req.Body)
	if err != nil {
		return "", queue.Usage{}, err
	}
	if refused := about.Refusal(a.features); refused != nil {
		return "", queue.Usage{}, refused
	}
	ignored := about.Unhonoured(a.honours)
	if req.Strict && len(ignored) > 0 {
		return "", queue.Usage{}, errUnhonoured(ignored)
	}
	a.frames.addSoon(queue.Frame{Kind: queue.FrameStarted, Ignored: ignored, Member: a.r.cfg.Member})
	describe(a.traced, about)
	a.sends(about.Inputs)
	if req.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, req.Timeout, errTimeout)
		defer cancel()
	}
	if !req.EndBy.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, req.EndBy, errDeadline)
		defer cancel()
	}
	stops := openai.NewStopFilter(about.Stop...)
	last := a.started
	res, err := a.r.cfg.Engine.Do(ctx, ask, a.options(), func(d engineapi.Delta) error {
		now := time.Now()
		a.r.metrics.token(last, now, max(d.Pieces, 1), last.Equal(a.started))
		last = now
		a.heard.Store(now.UnixNano())
		text, stopped := stops.Push(d.Text)
		a.send(text, d.Parts)
		if stopped {
			return errStopped
		}
		return nil
	})
	usage := countUsage(about, res)
	if errors.Is(err, errStopped) && !a.isGivenBack() {
		a.send("", &openai.Parts{StopSequence: stops.Matched()})
		return openai.FinishStop, usage, nil
	}
	if err != nil {
		return "", usage, err
	}
	a.send(stops.Rest(), nil)
	if slices.Contains(about.Stop, res.StopSequence) { // an engine may have others
		a.send("", &openai.Parts{StopSequence: res.StopSequence})
	}
	if a.isGivenBack() {
		return "", usage, errHandedBack
	}
	return res.FinishReason, usage, nil
}

func (a *attempt) options() engineapi.Options {
	t := a.r.cfg.Timeouts
	return engineapi.Options{Pace: readPace, Timeouts: engineapi.Timeouts{Connect: t.Connect, First: t.First, Between: t.Between}}
}

// send streams a piece of the answer. Before the first one it reports the first
// token to the leader on the same connection.
func (a *attempt) send(text string, parts *openai.Parts) {
	if text == "" && parts == nil {
		return
	}
	a.r.mu.Lock()
	if a.givenBack {
		a.r.mu.Unlock()
		return
	}
	isFirst := a.first.IsZero()
	if isFirst {
		a.first = time.Now()
		a.traced.AddEvent(telemetry.EventFirstToken)
		a.r.changedByRequest()
	}
	a.r.mu.Unlock()
	if isFirst {
		mark := queue.FirstToken{
			Request: a.assignment.Request.ID, Epoch: a.assignment.Epoch,
			Attempt: a.assignment.Attempt, Runner: a.r.cfg.Runner,
		}
		if err := a.r.cfg.Bus.Send(names.FirstTokenSubject(a.r.cfg.Session), &mark); err != nil {
			a.r.cfg.Logger.Warn("cannot report a first token", "request", mark.Request, "error", err)
		}
	}
	a.frames.addPiece(text, parts)
}

func (a *attempt) isGivenBack() bool {
	a.r.mu.Lock()
	defer a.r.mu.Unlock()
	return a.givenBack
}

// failure returns the failure to report for an error, and whether the engine must
// prove itself again.
func (a *attempt) failure(err error) (f *queue.Failure, healthy bool) {
	var refused *openai.Error
	switch {
	case errors.Is(err, errCancelled):
		return &queue.Failure{Code: queue.CodeCancelled, Message: "the request was cancelled"}, true
	case errors.Is(err, errHandedBack), errors.Is(err, errStopped):
		return &queue.Failure{Code: queue.CodeHandedBack, Message: "runner " + a.r.cfg.Runner + " is shutting down"}, true
	case errors.Is(err, errTimeout):
		msg := fmt.Sprintf("the answer took longer than %s", a.assignment.Request.Timeout)
		return &queue.Failure{Code: queue.CodeTimeout, Message: msg}, true
	case errors.Is(err, errDeadline):
		return a.assignment.Request.PastEnd(), true
	case errors.Is(err, engineapi.ErrTimeout):
		return &queue.Failure{Code: queue.CodeEngineFailed, Message: "the engine of runner " + a.r.cfg.Runner + " was silent for too long"}, false
	case errors.Is(err, engineapi.ErrLoading): // it has not seen the request
		return &queue.Failure{Code: queue.CodeHandedBack, Message: "the engine of runner " + a.r.cfg.Runner + " is not running"}, false
	case errors.Is(err, engineapi.ErrSchema):
		a.r.cfg.Logger.Warn("an answer does not fulfil its schema", "request", a.assignment.Request.ID)
		return &queue.Failure{Code: queue.CodeEngineFailed, Message: engineapi.ErrSchema.Error()}, true
	case errors.Is(err, engineapi.ErrBusy):
		// As if handed back: another runner takes the request, and this is no failed attempt.
		return &queue.Failure{Code: queue.CodeHandedBack, Message: "the server of runner " + a.r.cfg.Runner + " is busy"}, false
	case errors.As(err, &refused) && refused.Code == openai.CodeUnsupported && a.assignment.Request.Strict:
		return &queue.Failure{Code: queue.CodeUnsupported, Message: refused.Message, Param: refused.Param}, true
	case errors.As(err, &refused) && refused.Code == openai.CodeContextLength:
		return &queue.Failure{Code: queue.CodeContextLength, Message: refused.Message, Param: refused.Param}, true
	case errors.As(err, &refused) && refused.Status >= 400 && refused.Status < 500:
		return &queue.Failure{Code: queue.CodeInvalidRequest, Message: refused.Message, Param: refused.Param}, true
	case fault.Is(err, fault.Invalid):
		return &queue.Failure{Code: queue.CodeInvalidRequest, Message: err.Error()}, true
	}
	// Clients read the message: omit the error, which contains addresses. It
	// describes sockets and no part of the request.
	a.r.cfg.Logger.Warn("the engine broke off", "request", a.assignment.Request.ID, "error", err)
	return &queue.Failure{Code: queue.CodeEngineFailed, Message: "the engine of runner " + a.r.cfg.Runner + " broke off"}, false
}

// errUnhonoured refuses a request of which the engine would ignore something.
func errUnhonoured(ignored []string) error {
	return openai.BadRequest(ignored[0], openai.CodeUnsupported,
		"the engine of this model does not honour '"+strings.Join(ignored, "', '")+"', and this server refuses what it would have to ignore")
}

// finish frees the slot of an attempt, which ended with err.
func (r *runner) finish(a *attempt, end queue.AttemptEnd, healthy bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slots.end(a)
	r.engine.attempted(err, healthy, r.slots.generatesSince(a.midSilence(time.Now())))
	end.FirstToken = a.first
	r.outbox.add(&end)
	r.logs.end(a.frames, time.Now())
	r.metrics.attempt(end)
	if healthy {
		r.changedByRequest()
	} else {
		r.slots.caches = nil
		raise(r.suspect)
		r.changed()
	}
	raise(r.outbox.added)
}

// midSilence returns the middle of the time for which the engine has sent nothing
// for the attempt. An engine that hangs falls silent for all attempts at nearly the
// same time, and so may have sent the last text of another one a little later.
func (a *attempt) midSilence(now time.Time) int64 {
	since := max(a.heard.Load(), a.started.UnixNano())
	return since + (now.UnixNano()-since)/2
}

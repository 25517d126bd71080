package sidecar

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/telemetry"
)

// A generation is the work on an attempt.
type generation struct {
	*attempt
	r    *runner
	span trace.Span
}

// run generates the answer. It returns what to report of the attempt, whether the engine
// need not prove itself again, and the error with which the attempt failed.
func (g *generation) run(ctx context.Context) (end queue.AttemptEnd, healthy bool, err error) {
	end = queue.AttemptEnd{
		Request: g.assignment.Request.ID,
		Epoch:   g.assignment.Epoch,
		Attempt: g.assignment.Attempt,
		Runner:  g.r.cfg.Runner,
		Started: g.started,
	}
	healthy = true
	reason, usage, err := g.generate(ctx)
	end.Usage = usage
	if err == nil {
		end.FinishReason = reason
		g.frames.add(queue.Frame{Kind: queue.FrameEnd, FinishReason: reason, Usage: &usage})
	} else {
		g.frames.release() // before the error is reported
		end.Error, healthy = failure(err, &g.assignment.Request, &g.r.cfg)
		g.log(slog.LevelWarn, "attempt failed",
			slog.String("code", end.Error.Code), slog.Bool("healthy", healthy), slog.String("reason", end.Error.Message))
	}
	end.Ended = time.Now()
	return end, healthy, err
}

// log logs a message with the attempt's attributes. A separate logger per attempt
// would cost more than the few messages.
func (g *generation) log(level slog.Level, text string, attrs ...slog.Attr) {
	log := g.r.cfg.Logger
	if !log.Enabled(g.ctx, level) {
		return
	}
	log.With("request", g.assignment.Request.ID, "attempt", g.assignment.Attempt).LogAttrs(g.ctx, level, text, attrs...)
}

// generate drives the engine and returns why and with what usage it ended.
func (g *generation) generate(ctx context.Context) (string, queue.Usage, error) {
	req := g.assignment.Request
	ask, about, err := engineapi.Decode(req.Operation, req.Body)
	if err != nil {
		return "", queue.Usage{}, err
	}
	if refused := about.Refusal(g.features); refused != nil {
		return "", queue.Usage{}, refused
	}
	ignored := about.Unhonoured(g.honours)
	if req.Strict && len(ignored) > 0 {
		return "", queue.Usage{}, errUnhonoured(ignored)
	}
	g.frames.addSoon(queue.Frame{Kind: queue.FrameStarted, Ignored: ignored, Member: g.r.cfg.Member})
	describe(g.span, about)
	g.sends(about.Inputs)
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
	last := g.started
	res, err := g.r.cfg.Engine.Do(ctx, ask, g.options(), func(d engineapi.Delta) error {
		now := time.Now()
		g.r.metrics.token(last, now, max(d.Pieces, 1), last.Equal(g.started))
		last = now
		g.heard.Store(now.UnixNano())
		text, stopped := stops.Push(d.Text)
		g.send(text, d.Parts)
		if stopped {
			return errStopped
		}
		return nil
	})
	usage := countUsage(about, res)
	if errors.Is(err, errStopped) && !g.isGivenBack() {
		g.send("", &openai.Parts{StopSequence: stops.Matched()})
		return openai.FinishStop, usage, nil
	}
	if err != nil {
		return "", usage, err
	}
	g.send(stops.Rest(), nil)
	if slices.Contains(about.Stop, res.StopSequence) { // an engine may have others
		g.send("", &openai.Parts{StopSequence: res.StopSequence})
	}
	if g.isGivenBack() {
		return "", usage, errHandedBack
	}
	return res.FinishReason, usage, nil
}

func (g *generation) options() engineapi.Options {
	t := g.r.cfg.Timeouts
	return engineapi.Options{Pace: readPace, Tenant: g.assignment.Request.Tenant,
		Timeouts: engineapi.Timeouts{Connect: t.Connect, First: t.First, Between: t.Between}}
}

// send streams a piece of the answer. Before the first one it reports the first
// token to the leader on the same connection.
func (g *generation) send(text string, parts *openai.Parts) {
	if text == "" && parts == nil {
		return
	}
	g.r.mu.Lock()
	if g.givenBack {
		g.r.mu.Unlock()
		return
	}
	isFirst := g.first.IsZero()
	if isFirst {
		g.first = time.Now()
		g.span.AddEvent(telemetry.EventFirstToken)
		g.r.changedByRequest()
	}
	g.r.mu.Unlock()
	if isFirst {
		mark := queue.FirstToken{
			Request: g.assignment.Request.ID, Epoch: g.assignment.Epoch,
			Attempt: g.assignment.Attempt, Runner: g.r.cfg.Runner, Instance: g.r.instance,
		}
		if err := g.r.cfg.Bus.Send(names.FirstTokenSubject(g.r.cfg.Session), &mark); err != nil {
			g.r.cfg.Logger.Warn("cannot report a first token", "request", mark.Request, "error", err)
		}
	}
	g.frames.addPiece(text, parts)
}

func (g *generation) isGivenBack() bool {
	g.r.mu.Lock()
	defer g.r.mu.Unlock()
	return g.givenBack
}

// sends notes how many inputs the attempt is about to send.
func (g *generation) sends(inputs int) {
	g.r.mu.Lock()
	defer g.r.mu.Unlock()
	g.r.slots.sends(g.attempt, inputs)
}

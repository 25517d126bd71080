package sidecar

import (
	"context"
	"log/slog"
	"time"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// An executor runs the attempts of a runner. It has no mutex, because the slots are the
// runner's and the logs have their own.
type executor struct {
	r *runner
	// work makes the context of an attempt, which outlives Run's to drain.
	work  func() (context.Context, context.CancelCauseFunc)
	queue *queue.Queue
	logs  frameLogs
	begun chan *attempt // cap Slots: the attempts to work on
}

func newExecutor(r *runner, work func() (context.Context, context.CancelCauseFunc)) *executor {
	return &executor{r: r, work: work, queue: queue.New(r.cfg.Bus), begun: make(chan *attempt, r.cfg.Slots)}
}

// begin starts an attempt in a free slot. It is called with the runner's mu held.
func (x *executor) begin(as queue.Assignment) {
	ctx, cancel := x.work()
	a := &attempt{assignment: as, ctx: ctx, cancel: cancel, started: time.Now(), honours: x.r.engine.honours, features: x.r.engine.features, inputs: 1}
	a.frames = newFrameLog(x.queue, x.r.cfg.Logger, as)
	x.logs.add(a.frames)
	x.r.slots.begin(a)
	x.r.changedByRequest()
	x.begun <- a // there is room: it holds only attempts that run
}

// execute runs the attempts of one slot in sequence until ctx ends. It uses one
// goroutine for all of them, because growing the stack of a new one costs as much
// as the attempt.
func (x *executor) execute(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-x.begun:
			x.generate(a)
			a.cancel(nil)
		}
	}
}

// generate makes the engine work on an attempt, and frees its slot.
func (x *executor) generate(a *attempt) {
	ctx, span := startSpan(a, &x.r.cfg)
	defer span.End()
	g := generation{attempt: a, r: x.r, span: span}
	g.log(slog.LevelDebug, "attempt starts", slog.Uint64("epoch", a.assignment.Epoch))
	end, healthy, err := g.run(ctx)
	annotate(span, end)
	x.logs.end(a.frames, time.Now())
	x.r.finish(a, end, healthy, err)
	g.log(slog.LevelDebug, "attempt ended",
		slog.Int("tokens", end.Usage.CompletionTokens), slog.Int64("ms", end.Ended.Sub(a.started).Milliseconds()))
}

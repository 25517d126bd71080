package gateway

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// choices are a request for several answers: in the queue they are requests of their
// own, which the limits admit together. The first failure ends all of them.
type choices struct {
	*generation // stands for all, and is not queued itself
	each        []*generation
}

// split makes one generation for each of several choices. Each has a body of its own.
func (t *generation) split(req openai.Request) (*choices, *refusal) {
	if !t.body.take(int64(req.Choices-1) * int64(len(t.request.Body))) {
		t.outcome = errBusy().Code
		return nil, errBusy()
	}
	c := &choices{generation: t}
	for i := range req.Choices {
		choice := &generation{alias: true, release: func() {}, prompt: t.prompt, reply: reply{
			g: t.g, in: t.in, operation: t.operation, model: t.model, index: i, limit: t.limit,
			filter: newReasoningFilter(t.operation.reasoning, req.Reasoning, t.g.cfg.Reasoning),
		}}
		request := *t.request
		if i > 0 {
			request.ID += "-" + strconv.Itoa(i)
			body, err := req.Body(t.model, i)
			if err != nil {
				t.g.log.Error("cannot encode a request", "request", request.ID, "error", err)
				return nil, errInternal()
			}
			request.Body = body
		}
		choice.request, choice.ref = &request, request.Ref()
		c.each = append(c.each, choice)
	}
	return c, nil
}

// A piece is a frame of one choice, or why there are no more.
type piece struct {
	choice int
	frame  queue.Frame
	err    error
}

// pieceBuffer is how many frames of all choices wait for the client at most.
const pieceBuffer = 32

// followAll reads the frames of all choices until stop is called, which waits for the
// readers.
func followAll(ctx context.Context, each []*generation) (pieces <-chan piece, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	out := make(chan piece, pieceBuffer)
	var readers sync.WaitGroup
	for _, c := range each {
		readers.Go(func() { c.read(ctx, out) })
	}
	return out, func() {
		cancel()
		readers.Wait()
	}
}

// read sends the frames of a choice until its last, or until ctx ends.
func (t *reply) read(ctx context.Context, out chan<- piece) {
	for {
		p := piece{choice: t.index}
		if frame, err := t.follow.next(ctx); err == nil {
			p.frame = *frame
		} else {
			p.err = err
		}
		select {
		case out <- p:
		case <-ctx.Done():
			return
		}
		if p.err != nil || p.frame.Kind == queue.FrameEnd || p.frame.Kind == queue.FrameError {
			return
		}
	}
}

// run queues all choices, waits for them and writes them.
func (t *choices) run(ctx context.Context, w http.ResponseWriter) {
	defer t.endAll()
	t.hold()
	t.until = t.givesUp(time.Now())
	if t.startAll(ctx, w) {
		t.outcome = t.answerAll(ctx, w)
	}
}

// startAll stores the requests of all choices, and reports whether it did. If not, it
// has written the refusal.
func (t *choices) startAll(ctx context.Context, w http.ResponseWriter) bool {
	t.request = nil
	for _, c := range t.each {
		if !c.start(ctx, w) {
			t.outcome = c.outcome
			return false
		}
	}
	t.body.free()
	return true
}

// answerAll waits for all choices and writes them. It returns the outcome.
func (t *choices) answerAll(ctx context.Context, w http.ResponseWriter) string {
	ctx, cancel := context.WithDeadlineCause(ctx, t.until, errBackstop)
	defer cancel()
	pieces, stop := followAll(ctx, t.each)
	defer stop()
	if t.streamed {
		return t.streamAll(ctx, w, pieces)
	}
	return t.collectAll(ctx, w, pieces)
}

// endAll settles what the choices have used, and cancels those that have not ended.
func (t *choices) endAll() {
	var used []*openai.Usage
	for _, c := range t.each {
		if c.follow.frame.Usage != nil {
			used = append(used, usageOf(&c.follow.frame))
		}
		if c.outcome == "" {
			c.outcome = t.outcome
		}
		c.end()
	}
	if len(used) > 0 {
		sum := openai.SumUsage(used)
		t.follow.frame.Usage = &queue.Usage{
			PromptTokens: sum.PromptTokens, CompletionTokens: sum.CompletionTokens, CachedTokens: sum.Cached(), ReasoningTokens: sum.Reasoned(),
		}
	}
	t.release()
	t.body.free()
}

// collectAll waits for the whole answer. It returns the outcome.
func (t *choices) collectAll(ctx context.Context, w http.ResponseWriter, pieces <-chan piece) string {
	all := make([]collected, len(t.each))
	answers := make([]answer, len(t.each))
	var queued time.Duration
	for left := len(all); left > 0; {
		var p piece
		select {
		case p = <-pieces:
		case <-ctx.Done():
			return t.abandon(ctx, w)
		}
		if p.err != nil {
			return t.abandon(ctx, w)
		}
		choice, c := t.each[p.choice], &all[p.choice]
		c.filter = &choice.filter
		frame := &p.frame
		switch frame.Kind {
		case queue.FrameQueued:
		case queue.FrameStarted:
			setIgnored(w.Header(), t.without(frame.Ignored))
			setMember(w.Header(), frame.Member)
			queued = max(queued, choice.follow.queuedFor())
		case queue.FrameDelta:
			if outcome := t.gather(w, c, frame, func() int { return sizeOf(all) }); outcome != "" {
				return outcome
			}
		case queue.FrameEnd:
			c.text(choice.filter.rest())
			answers[p.choice] = choice.answered(c, frame)
			choice.outcome = string(queue.Completed)
			left--
		case queue.FrameError:
			refused := failureRefusal(frame.Error, t.limit)
			refuse(w, refused)
			return refused.Code
		}
	}
	w.Header().Set(headerQueue, strconv.FormatInt(queued.Milliseconds(), 10))
	writeJSON(w, http.StatusOK, t.operation.several(answers))
	return string(queue.Completed)
}

func sizeOf(all []collected) int {
	n := 0
	for i := range all {
		n += all[i].size()
	}
	return n
}

package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// streamAll writes the choices as they come, each piece with the index of its choice.
// It returns the outcome. The status is held back as in stream.
func (t *choices) streamAll(ctx context.Context, w http.ResponseWriter, pieces <-chan piece) string {
	s := t.streamer(w)
	writers := make([]*streamer, len(t.each))
	for i, c := range t.each {
		writers[i] = &streamer{reply: &c.reply, events: s.events, status: s.status}
	}
	encodings := t.encodings()
	usages := make([]*openai.Usage, len(t.each))
	pause := time.NewTimer(t.g.timing.quiet)
	defer pause.Stop()
	for left := len(t.each); left > 0; {
		select {
		case p := <-pieces:
			if p.err != nil {
				return s.abandon(ctx)
			}
			s.events.encoding = encodings[p.choice]
			writer := writers[p.choice]
			if p.frame.Kind == queue.FrameEnd {
				left--
				usages[p.choice] = usageOf(&p.frame)
				thoughts, text := writer.filter.rest()
				s.events.finish(thoughts, text, finishReason(&p.frame))
				writer.outcome = string(queue.Completed)
			} else if outcome := writer.write(&p.frame); outcome != "" {
				return outcome
			}
			s.status = writer.status
			// Pieces that came together go out together.
			if len(pieces) == 0 && left > 0 && s.events.flush() != nil {
				return outcomeDisconnected
			}
		case <-pause.C:
			if s.events.comment(s.status) != nil {
				return outcomeDisconnected
			}
			pause.Reset(t.g.timing.keepAlive)
		case <-ctx.Done():
			return s.abandon(ctx)
		}
	}
	if s.events.done(s.sum(usages)) != nil {
		return outcomeDisconnected
	}
	return string(queue.Completed)
}

// encodings returns one for each choice.
func (t *choices) encodings() []*encoding {
	out := make([]*encoding, len(t.each))
	for i := range out {
		options := t.streamOptions()
		options.Index = i
		out[i] = &encoding{chunks: t.operation.stream(options)}
	}
	return out
}

// sum returns the usage of all choices if the client wants it, or else nil.
func (s *streamer) sum(usages []*openai.Usage) *openai.Usage {
	if !s.includeUsage {
		return nil
	}
	return openai.SumUsage(usages)
}

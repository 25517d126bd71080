package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/queue"
)

// RequestsReplayCmd queues a dead letter again.
type RequestsReplayCmd struct {
	ID   string `arg:"" help:"Id of the request."`
	Wait bool   `default:"true" negatable:"" help:"Wait for the answer and print its text."`
	Keep bool   `help:"Keep the dead letter. By default it is deleted when the request is queued; a replay that fails makes its own dead letter."`
}

// Run prints the id of the new request on standard error, and its answer on
// standard output.
func (c *RequestsReplayCmd) Run(ctx context.Context, all *RequestsCmd, log *slog.Logger) error {
	q, done, err := all.find(ctx, c.ID, log)
	if err != nil {
		return err
	}
	defer done()
	dead, seq, err := q.DeadLetter(ctx, c.ID)
	if err != nil {
		return fmt.Errorf("cannot replay request %q: %w", c.ID, err)
	}
	again := dead.Replay("req_"+rand.Text(), time.Now().UTC())
	frames, err := q.SubscribeFrames(again.Ref()) // before it is queued, or the beginning is missed
	if err != nil {
		return fmt.Errorf("cannot replay request %q: %w", c.ID, err)
	}
	defer frames.Close()
	if _, err := q.Publish(ctx, again); err != nil {
		return fmt.Errorf("cannot replay request %q: %w", c.ID, err)
	}
	fmt.Fprintln(os.Stderr, "queued as", again.ID)
	if !c.Keep {
		if err := q.DeleteDeadLetter(ctx, seq); err != nil {
			log.Warn("the dead letter stays", "request", c.ID, "error", err)
		}
	}
	if !c.Wait {
		return nil
	}
	return follow(ctx, q, frames, again.Ref(), os.Stdout)
}

// follow prints an answer. An interrupt cancels the request.
func follow(ctx context.Context, q *queue.Queue, frames *queue.Frames, ref queue.Ref, w io.Writer) error {
	for {
		f, err := frames.Next(ctx)
		if err != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = q.Cancel(ctx, ref, "interrupted")
			return err
		}
		switch f.Kind {
		case queue.FrameDelta:
			if _, err := io.WriteString(w, f.Text); err != nil {
				return err
			}
		case queue.FrameEnd:
			_, err := io.WriteString(w, "\n")
			return err
		case queue.FrameError:
			return fault.Errorf(fault.Transient, "request %q ended: %s: %s", ref.ID, f.Error.Code, f.Error.Message)
		case queue.FrameQueued, queue.FrameStarted:
		}
	}
}

func printLine(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }

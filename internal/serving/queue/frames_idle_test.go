package queue

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"
)

// A reader that looks up now and then, to show its client a sign of life,
// notices as soon as one that waits that the last frames got lost.
func TestSilenceLastsOverCalls(t *testing.T) {
	srv := natstest.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	b, err := bus.Connect(ctx, bus.Config{URL: srv.URL(), User: natstest.User, Password: natstest.Password})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	q := New(b)
	ref := Ref{ID: "req_1", Session: "s", Tenant: "t"}
	frames, err := q.SubscribeFrames(ref)
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	lost := Outcome{Request: ref.ID, Session: ref.Session, Tenant: ref.Tenant, State: Expired, Error: &Failure{Code: CodeExpired}}
	if err := q.PublishOutcome(ctx, lost, 0); err != nil {
		t.Fatal(err)
	}
	var since time.Time
	for range 2 {
		glance, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		_, err := frames.Next(glance)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Next: %v, want %v", err, context.DeadlineExceeded)
		}
		if frames.silent.IsZero() || !since.IsZero() && !frames.silent.Equal(since) {
			t.Fatalf("silent since %v, after another call since %v", since, frames.silent)
		}
		since = frames.silent
	}
	frames.silent = since.Add(-frameIdle) // as if so much time had passed
	f, err := frames.Next(ctx)
	if err != nil || f.Kind != FrameError || f.Error.Code != CodeExpired {
		t.Errorf("frame = %+v, %v; want error %q", f, err, CodeExpired)
	}
}

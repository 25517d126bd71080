package queue_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
)

func delta(ref queue.Ref, seq int) queue.Frame {
	return queue.Frame{Request: ref.ID, Epoch: 1, Attempt: 1, Seq: seq, Kind: queue.FrameDelta, Text: fmt.Sprint(seq)}
}

// A reader that is too slow for its buffer gets all frames, because it requests
// the dropped ones again.
func TestSlowReaderGetsAll(t *testing.T) {
	srv := natstest.Start(t)
	client, runner := connect(t, srv), connect(t, srv)
	ctx := testContext(t)
	ref := request("req_1").Ref()
	frames, err := client.SubscribeFrames(ref)
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	const n, most = 2000, 100
	resumed := make(chan queue.Resume, 100)
	stop, err := bus.Listen(runner.Bus, names.ResumeSubject(ref.Session, ref.ID), func(_ string, r queue.Resume) {
		select {
		case resumed <- r:
		default:
		}
		// A runner sends some frames, and the last one. All of them would fill the buffer with old
		// ones of answers that come late, on a busy machine again and again.
		for seq := r.Seq; seq < min(r.Seq+most, n); seq++ {
			_ = runner.PublishFrame(ref.Session, delta(ref, seq))
		}
		_ = runner.PublishFrame(ref.Session, queue.Frame{Request: ref.ID, Epoch: 1, Attempt: 1, Seq: n, Kind: queue.FrameEnd})
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := errors.Join(client.Flush(), runner.Flush()); err != nil {
		t.Fatal(err)
	}
	for seq := range n {
		if err := runner.PublishFrame(ref.Session, delta(ref, seq)); err != nil {
			t.Fatal(err)
		}
	}
	if err := runner.PublishFrame(ref.Session, queue.Frame{Request: ref.ID, Epoch: 1, Attempt: 1, Seq: n, Kind: queue.FrameEnd}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(runner.Flush(), client.Flush()); err != nil { // all frames are delivered or dropped
		t.Fatal(err)
	}
	for seq := range n {
		f, err := frames.Next(ctx)
		if err != nil || f.Text != fmt.Sprint(seq) {
			t.Fatalf("frame %d: %+v, %v", seq, f, err)
		}
	}
	if f, err := frames.Next(ctx); err != nil || f.Kind != queue.FrameEnd {
		t.Fatalf("last frame: %+v, %v", f, err)
	}
	if _, err := frames.Next(ctx); !errors.Is(err, io.EOF) {
		t.Errorf("after the last frame: %v, want EOF", err)
	}
	if len(resumed) == 0 {
		t.Error("no frame was dropped, so the test proves nothing")
	}
}

// A subscriber that missed the end of a request gets an error frame.
func TestFollowsARequestThatHasEnded(t *testing.T) {
	srv := natstest.Start(t)
	b := connect(t, srv)
	ctx := testContext(t)
	cases := map[string]struct {
		outcome queue.Outcome
		code    string
	}{
		"Expired":   {queue.Outcome{State: queue.Expired, Error: &queue.Failure{Code: queue.CodeExpired}}, queue.CodeExpired},
		"Completed": {queue.Outcome{State: queue.Completed}, queue.CodeInterrupted},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ref := request("req_" + name).Ref()
			frames, err := b.SubscribeFrames(ref)
			if err != nil {
				t.Fatal(err)
			}
			defer frames.Close()
			c.outcome.Request, c.outcome.Session, c.outcome.Tenant = ref.ID, ref.Session, ref.Tenant
			if err := b.PublishOutcome(ctx, c.outcome, 0); err != nil {
				t.Fatal(err)
			}
			// A gap before a frame shows that frames were missed.
			if err := b.PublishFrame(ref.Session, delta(ref, 5)); err != nil {
				t.Fatal(err)
			}
			f, err := frames.Next(ctx)
			if err != nil || f.Kind != queue.FrameError || f.Error.Code != c.code {
				t.Errorf("frame = %+v, %v; want error %q", f, err, c.code)
			}
		})
	}
}

func TestNextEndsWithItsContext(t *testing.T) {
	b := connect(t, natstest.Start(t))
	frames, err := b.SubscribeFrames(request("req_1").Ref())
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := frames.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Next: %v, want %v", err, context.Canceled)
	}
	frames.Close()
}

// BenchmarkFrame sends one frame from a runner to a reader on one machine.
func BenchmarkFrame(b *testing.B) {
	srv := natstest.Start(b)
	client, runner := connect(b, srv), connect(b, srv)
	ref := request("req_1").Ref()
	frames, err := client.SubscribeFrames(ref)
	if err != nil {
		b.Fatal(err)
	}
	defer frames.Close()
	if err := client.Flush(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	seq := 0
	for b.Loop() {
		if err := runner.PublishFrame(ref.Session, delta(ref, seq)); err != nil {
			b.Fatal(err)
		}
		if _, err := frames.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
		seq++
	}
}

// BenchmarkPublishRequest measures one durable write without a sync to disk.
func BenchmarkPublishRequest(b *testing.B) {
	bus := connect(b, natstest.Start(b))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		if n%5000 == 0 {
			b.StopTimer()
			if err := bus.Conn().Flush(); err != nil {
				b.Fatal(err)
			}
			s, err := bus.JetStream().Stream(b.Context(), names.RequestStream)
			if err == nil {
				err = s.Purge(b.Context())
			}
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		if _, err := bus.Publish(b.Context(), request(fmt.Sprintf("req_%d", n))); err != nil {
			b.Fatal(err)
		}
	}
}

package sidecar_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/dispatch"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/engineapi"
	"github.com/gorizond/koldun/internal/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/sidecar"
	"github.com/gorizond/koldun/internal/waittest"
)

// An instant engine answers with one token and takes no time.
type instant struct{}

func (instant) Chat(_ context.Context, _ engineapi.Chat, onText func(engineapi.Delta) error) (engineapi.Result, error) {
	return engineapi.Result{FinishReason: "stop", Deltas: 1}, onText(engineapi.Delta{Text: "x"})
}

func (instant) Alive(context.Context) error { return nil }

// bench starts a server, a dispatcher and n sidecars with instant engines.
func bench(b *testing.B, n int) *bus.Bus {
	b.Helper()
	return benchOn(b, n, instant{})
}

func benchOn(b *testing.B, n int, engine sidecar.Engine) *bus.Bus {
	b.Helper()
	srv := natstest.Start(b)
	ctx, cancel := context.WithCancel(context.Background())
	quiet := slog.New(slog.DiscardHandler)
	connect := func() *bus.Bus {
		c, err := bus.Connect(ctx, bus.Config{URL: srv.URL(), User: natstest.User, Password: natstest.Password})
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	client := connect()
	if err := client.Ensure(ctx); err != nil {
		b.Fatal(err)
	}
	done := make(chan error, n+1)
	run := func(f func(ctx context.Context, c *bus.Bus) error) {
		c := connect()
		go func() {
			err := f(ctx, c)
			c.Close()
			done <- err
		}()
	}
	run(func(ctx context.Context, c *bus.Bus) error {
		return dispatch.Run(ctx, dispatch.Config{Bus: c, Identity: "d", Logger: quiet})
	})
	for i := range n {
		run(func(ctx context.Context, c *bus.Bus) error {
			return sidecar.Run(ctx, sidecar.Config{
				Bus: c, Engine: engine, Session: session, Runner: fmt.Sprintf("r%d", i), Model: "ns/model", Logger: quiet,
			})
		})
	}
	b.Cleanup(func() {
		cancel()
		for range n + 1 {
			if err := waittest.Receive(b, "all to end", done); err != nil {
				b.Error(err)
			}
		}
		client.Close()
	})
	return client
}

// serve sends one request and returns when its first text came; end waits for
// the rest.
func serve(b *testing.B, client *bus.Bus, r bus.Request) (end func()) {
	b.Helper()
	frames, err := client.SubscribeFrames(r.Ref())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := client.PublishRequest(b.Context(), r); err != nil {
		b.Fatal(err)
	}
	next := func(kind bus.FrameKind) {
		for {
			f, err := frames.Next(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if f.Kind == kind {
				return
			}
		}
	}
	next(bus.FrameDelta)
	return func() {
		next(bus.FrameEnd)
		frames.Close()
	}
}

// BenchmarkFirstText is the time from the publication of a request to its first
// text, with everything idle.
func BenchmarkFirstText(b *testing.B) {
	client := bench(b, 1)
	serve(b, client, chat("req_warm", "x"))()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		end := serve(b, client, chat(fmt.Sprintf("req_%d", i), "x"))
		b.StopTimer()
		end()
		ended(b, client, chat(fmt.Sprintf("req_%d", i), "x").Ref())
		b.StartTimer()
	}
}

// ended waits until a request has an outcome: its runner is idle before.
func ended(b *testing.B, client *bus.Bus, ref bus.Ref) {
	b.Helper()
	waittest.Until(b, "an outcome", func() bool {
		_, err := client.Outcome(b.Context(), ref)
		return err == nil
	})
}

// BenchmarkChunk is one piece of text from the engine's socket through the
// sidecar and NATS to a follower, all of them and the engine included.
func BenchmarkChunk(b *testing.B) {
	e := enginetest.Start(b, func(r enginetest.Request) enginetest.Reply {
		return enginetest.Reply{Pieces: []string{" hello"}, Repeat: true}
	})
	engine, err := engineapi.New(e.URL)
	if err != nil {
		b.Fatal(err)
	}
	client := benchOn(b, 1, engine)
	serve(b, client, chat("req_warm", "x", `,"max_tokens":1`))()
	b.ReportAllocs()
	b.ResetTimer()
	serve(b, client, chat("req_long", "x", fmt.Sprintf(`,"max_tokens":%d`, max(b.N, 2))))()
}

// BenchmarkThroughput is requests per second with instant engines and many
// clients.
func BenchmarkThroughput(b *testing.B) {
	client := bench(b, 8)
	serve(b, client, chat("req_warm", "x"))()
	b.ReportAllocs()
	const clients = 32
	ids := make(chan int)
	done := make(chan bool)
	b.ResetTimer()
	for range clients {
		go func() {
			defer func() { done <- true }()
			for i := range ids {
				serve(b, client, chat(fmt.Sprintf("req_%d", i), "x"))()
			}
		}()
	}
	for i := range b.N {
		waittest.Send(b, "a client", ids, i)
	}
	close(ids)
	for range clients {
		waittest.Receive(b, "a client to end", done)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
}

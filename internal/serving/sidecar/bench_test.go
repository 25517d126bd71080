package sidecar_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/engineapi/enginetest"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/dispatch"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/sidecar"
	"github.com/gorizond/koldun/test/waittest"
)

// benchOn starts a server, a dispatcher and a sidecar.
func benchOn(b *testing.B, engine sidecar.Engine) *bus.Bus {
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
	done := make(chan error, 2)
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
	run(func(ctx context.Context, c *bus.Bus) error {
		return sidecar.Run(ctx, sidecar.Config{
			Bus: c, Engine: engine, Session: session, Runner: "r", Model: "ns/model", Logger: quiet,
		})
	})
	b.Cleanup(func() {
		cancel()
		for range 2 {
			if err := waittest.Receive(b, "all to end", done); err != nil {
				b.Error(err)
			}
		}
		client.Close()
	})
	return client
}

// serve sends one request, and reads its answer.
func serve(b *testing.B, client *bus.Bus, r queue.Request) {
	b.Helper()
	frames, err := queue.New(client).SubscribeFrames(r.Ref())
	if err != nil {
		b.Fatal(err)
	}
	defer frames.Close()
	if _, err := queue.New(client).Publish(b.Context(), r); err != nil {
		b.Fatal(err)
	}
	for {
		f, err := frames.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if f.Kind == queue.FrameEnd {
			return
		}
	}
}

// BenchmarkChunk measures one piece of text from the engine's socket through the
// sidecar and NATS to a follower, including the engine.
func BenchmarkChunk(b *testing.B) {
	e := enginetest.Start(b, func(r enginetest.Request) enginetest.Reply {
		return enginetest.Reply{Pieces: []string{" hello"}, Repeat: true}
	})
	engine, err := engineapi.New(e.URL)
	if err != nil {
		b.Fatal(err)
	}
	client := benchOn(b, engine)
	serve(b, client, chat("req_warm", "x", `,"max_tokens":1`))
	b.ReportAllocs()
	b.ResetTimer()
	serve(b, client, chat("req_long", "x", fmt.Sprintf(`,"max_tokens":%d`, max(b.N, 2))))
}

// BenchmarkServerChunk is BenchmarkChunk for pieces of text, and of a call of a tool,
// of an OpenAI-compatible server.
func BenchmarkServerChunk(b *testing.B) {
	for name, piece := range map[string]string{
		"Text":     enginetest.TextChunk("/v1/chat/completions", " hello"),
		"ToolCall": `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"","arguments":" hello"}}]}}]}`,
	} {
		b.Run(name, func(b *testing.B) {
			pieces := max(b.N, 2)
			e := enginetest.StartServer(b, func(r enginetest.ServerRequest) enginetest.ServerReply {
				if r.Last() != "long" {
					return enginetest.EchoChunks(r)
				}
				return enginetest.ServerReply{Events: append(slices.Repeat([]string{piece}, pieces), enginetest.Finish("stop"))}
			})
			engine, err := engineapi.NewServer(engineapi.ServerConfig{URL: e.URL, Model: "served", Features: "tools"})
			if err != nil {
				b.Fatal(err)
			}
			client := benchOn(b, engine)
			serve(b, client, chat("req_warm", "x"))
			b.ReportAllocs()
			b.ResetTimer()
			serve(b, client, chat("req_long", "long"))
		})
	}
}

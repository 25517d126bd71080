package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/gorizond/koldun/internal/engineapi"
	"github.com/gorizond/koldun/internal/sidecar"
	"github.com/gorizond/koldun/internal/telemetry"
)

// LLMCmd drives an engine. It connects to NATS as the environment says.
type LLMCmd struct {
	Listen     string        `default:":8081" help:"Address of /healthz, /readyz and /metrics."`
	Engine     string        `default:"http://127.0.0.1:9990" help:"Engine to drive. Nothing else may talk to it."`
	Supervisor string        `default:"" placeholder:"URL" help:"Health address of the engine's supervisor, which restarts an engine that hangs."`
	Session    string        `required:"" help:"Session whose requests are served."`
	Runner     string        `required:"" help:"Name of this runner, unique in its session."`
	Model      string        `required:"" help:"Model that the engine serves: NAMESPACE/NAME."`
	First      time.Duration `default:"30m" help:"Longest time to the first token."`
	Between    time.Duration `default:"10m" help:"Longest time from one token to the next."`
	Grace      time.Duration `default:"25s" help:"How long an answer may go on after a signal to end."`
}

// Run serves until ctx ends, then hands back or finishes what it has.
func (c *LLMCmd) Run(ctx context.Context, log *slog.Logger) error {
	oneCore()
	engine, err := engineapi.New(c.Engine)
	if err != nil {
		return err
	}
	listen := listenAddress(c.Listen)
	b, err := connectAlive(ctx, "llm", listen, log)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer b.Close()
	tracer, stop, err := telemetry.NewTracer(ctx, "koldun-llm", version)
	if err != nil {
		return err
	}
	defer stop()
	var supervisor sidecar.Supervisor
	if c.Supervisor != "" {
		supervisor = engineapi.Supervisor{URL: c.Supervisor}
	}
	return sidecar.Run(ctx, sidecar.Config{
		Supervisor: supervisor,
		Tracer:     tracer,
		Bus:        b,
		Engine:     engine,
		Session:    c.Session,
		Runner:     c.Runner,
		Model:      c.Model,
		Listen:     listen,
		Timeouts:   sidecar.Timeouts{First: c.First, Between: c.Between},
		Grace:      c.Grace,
		Logger:     log,
	})
}

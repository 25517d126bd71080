package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
	"github.com/gorizond/koldun/internal/model/toolcall"
	"github.com/gorizond/koldun/internal/network/httpserver"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/sidecar"
	"github.com/gorizond/koldun/internal/telemetry"
)

// LLMCmd drives an engine. It connects to NATS as the environment says.
type LLMCmd struct {
	Listen      string        `default:":8081" help:"Address of /healthz, /readyz and /metrics."`
	AllowedHost []string      `name:"allowed-host" env:"KOLDUN_ALLOWED_HOSTS" placeholder:"NAME" help:"Host name that requests may name beside IP addresses. May be repeated; none is localhost and the names of Services and pods."`
	Engine      string        `default:"http://127.0.0.1:9990" help:"Engine to drive. No other client may connect to it."`
	Supervisor  string        `default:"" placeholder:"URL" help:"Health address of the engine's supervisor, which restarts an engine that hangs."`
	RestartKey  string        `name:"restart-key-file" env:"KOLDUN_RESTART_KEY_FILE" placeholder:"FILE" help:"Key for the supervisor to restart the engine, read for each restart."`
	Protocol    string        `default:"dllama" enum:"dllama,openai" help:"API of the engine: that of dllama-api and of Koldun's own, or OpenAI's."`
	Tokenizer   string        `default:"" placeholder:"FILE" help:"Tokenizer file of the model, for an engine that takes plain messages: tools are written into them as its chat template does."`
	ServedName  string        `default:"" placeholder:"NAME" help:"Name by which the server knows the model; this and the next six flags are for --protocol=openai."`
	APIKeyFile  string        `default:"" placeholder:"FILE" help:"Bearer token of the server, read for each request."`
	Parameters  []string      `placeholder:"NAME" help:"Sampling parameters that the server honours."`
	Features    []string      `placeholder:"NAME" help:"What the server offers: tools, tool_choice, json_schema, logprobs, dimensions."`
	Operations  []string      `placeholder:"NAME" help:"What the server serves: chat, completion, embedding."`
	Running     string        `name:"running-metric" placeholder:"NAME" help:"Metric of the server that counts the requests that it computes. With it and the next one, the runner offers fewer slots while others keep the server busy."`
	Waiting     string        `name:"waiting-metric" placeholder:"NAME" help:"Metric of the server that counts the requests that wait in it."`
	Session     string        `required:"" help:"Session whose requests are served."`
	Runner      string        `required:"" help:"Name of this runner, unique in its session."`
	Model       string        `required:"" help:"Model that the engine serves: NAMESPACE/NAME."`
	Slots       int           `default:"1" help:"Concurrent requests of the engine."`
	Group       string        `default:"" help:"Name of the group of this runner, whose weight the registry may hold."`
	Weight      *int          `placeholder:"100" help:"Share of the requests that the group takes, 0 to 1000, if the registry holds no weight."`
	Fallback    bool          `help:"Take only requests that no ready runner of another group serves, if the registry holds no weight."`
	First       time.Duration `default:"30m" help:"Maximum time to the first token."`
	Between     time.Duration `default:"10m" help:"Maximum time between two tokens."`
	Grace       time.Duration `default:"25s" help:"Time for running answers after a signal to stop."`
}

// Run serves until ctx ends, then hands back or finishes what it has.
func (c *LLMCmd) Run(ctx context.Context, log *slog.Logger) error {
	oneCore()
	defer collectLess()()
	cfg, err := c.config(log)
	if err != nil {
		return err
	}
	b, err := connectAlive(ctx, "llm", cfg.Listen, c.AllowedHost, log, func(nats httpserver.Check) http.Handler {
		return sidecar.HealthWithoutBus(cfg.Engine, nats)
	})
	if err != nil {
		return fault.UnlessStopped(ctx, err)
	}
	defer b.Close()
	cfg.Bus = b
	tracer, stop, err := telemetry.NewTracer(ctx, "koldun-llm", version)
	if err != nil {
		return err
	}
	defer stop()
	cfg.Tracer = tracer
	ctx, refused := b.Admitted(ctx)
	err = sidecar.Run(ctx, cfg)
	return cmp.Or(advise(refused()), err)
}

// engine returns a client of the engine. It checks the number of slots first,
// since each slot has a client of its own.
func (c *LLMCmd) engine() (sidecar.Engine, error) {
	if c.Slots < 1 || c.Slots > queue.MaxSlots {
		return nil, fault.Errorf(fault.Invalid, "cannot use --slots=%d: use 1 to %d", c.Slots, queue.MaxSlots)
	}
	if c.Protocol == "openai" {
		return c.server()
	}
	switch {
	case c.Tokenizer != "" && c.Slots > 1:
		return nil, fault.Errorf(fault.Invalid, "cannot use --tokenizer with --slots=%d: an engine that takes plain messages has one slot", c.Slots)
	case c.Tokenizer != "":
		plain, err := plainTools(c.Tokenizer)
		if err != nil {
			return nil, err
		}
		return engineapi.NewPlain(c.Engine, plain)
	case c.Slots == 1:
		return engineapi.New(c.Engine)
	}
	return engineapi.NewSlots(c.Engine, c.Slots)
}

// plainTools returns what writes tools as the chat template in a tokenizer file does.
func plainTools(path string) (*toolcall.Plain, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.Errorf(fault.Invalid, "cannot open tokenizer: %w", err)
	}
	defer func() { _ = f.Close() }()
	t, err := tokenizer.Read(f)
	if err != nil {
		return nil, fmt.Errorf("cannot use tokenizer %q: %w", path, err)
	}
	return toolcall.NewPlain(context.Background(), t.ChatTemplate, t.Tokens[t.BOS].Text, t.TurnEnd()), nil
}

// traffic returns the group that the flags describe, or nil.
func (c *LLMCmd) traffic() *queue.Traffic {
	if c.Weight == nil && !c.Fallback {
		return nil
	}
	t := &queue.Traffic{Group: c.Group, Weight: queue.DefaultWeight, Fallback: c.Fallback}
	if c.Weight != nil {
		t.Weight = *c.Weight
	}
	return t
}

// server returns a client of an OpenAI-compatible server.
func (c *LLMCmd) server() (sidecar.Engine, error) {
	cfg := engineapi.ServerConfig{
		URL: c.Engine, Model: c.ServedName, KeyFile: c.APIKeyFile, Parameters: c.Parameters, Features: openai.NewFeatures(c.Features...),
		Load: engine.LoadMetrics{Running: c.Running, Waiting: c.Waiting},
	}
	for _, op := range c.Operations {
		cfg.Operations = append(cfg.Operations, openai.Operation(op))
	}
	return engineapi.NewServer(cfg)
}

// config is checked, and lacks the bus and the tracer.
func (c *LLMCmd) config(log *slog.Logger) (sidecar.Config, error) {
	if err := cmp.Or(positive("first", c.First), positive("between", c.Between), positive("grace", c.Grace)); err != nil {
		return sidecar.Config{}, err
	}
	if (c.Running == "") != (c.Waiting == "") {
		return sidecar.Config{}, fault.Errorf(fault.Invalid, "cannot use only one of --running-metric and --waiting-metric: set both or none")
	}
	driven, err := c.engine()
	if err != nil {
		return sidecar.Config{}, err
	}
	cfg := sidecar.Config{
		Engine:   driven,
		Session:  c.Session,
		Runner:   c.Runner,
		Model:    c.Model,
		Slots:    c.Slots,
		Member:   c.Group,
		Traffic:  c.traffic(),
		Listen:   listenAddress(c.Listen),
		Hosts:    c.AllowedHost,
		Timeouts: sidecar.Timeouts{First: c.First, Between: c.Between},
		Grace:    c.Grace,
		Logger:   log,
	}
	if server, ok := driven.(*engineapi.Server); ok && c.Running != "" && c.Waiting != "" {
		cfg.Loaded = server
	}
	if c.Supervisor != "" {
		if cfg.Supervisor, err = engineapi.NewSupervisor(c.Supervisor, c.RestartKey); err != nil {
			return cfg, err
		}
	}
	return cfg, cfg.Check()
}

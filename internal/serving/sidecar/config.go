package sidecar

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/telemetry"
)

// An Engine answers Config.Slots requests concurrently. *engineapi.Client is an
// Engine for one slot, *engineapi.Slots for more, *engineapi.Server for any number.
type Engine interface {
	// Do blocks until the answer has ended, and ends it soon after ctx ends.
	Do(ctx context.Context, r engineapi.Request, o engineapi.Options, onText func(engineapi.Delta) error) (engineapi.Result, error)
	// Alive reports whether the engine answers, without making it compute.
	Alive(ctx context.Context) error
}

// A Supervisor runs the engine's process; engineapi.Supervisor is one.
type Supervisor interface {
	// Restart returns when the process is being stopped.
	Restart(ctx context.Context) error
	// State returns what the process is doing in a few words.
	State(ctx context.Context) (string, error)
	// Session returns the name of the engine's session once it is another one
	// than after. An Unsupported error means that there is no such name.
	Session(ctx context.Context, after string) (string, error)
}

// A Loaded says how busy an engine is that others use too; *engineapi.Server is one
// if its configuration names the metrics.
type Loaded interface {
	// Load counts the requests of all clients. An Unsupported error means that the
	// engine does not say.
	Load(ctx context.Context) (engineapi.Load, error)
}

// Config describes a runner.
type Config struct {
	Bus     *bus.Bus // the caller closes it after Run
	Engine  Engine
	Loaded  Loaded // nil: the engine has no other clients, or does not say
	Session string // names.Session
	Runner  string // unique in the session at any one time; one subject token
	Model   string // "namespace/name"
	// Slots is the number of requests that the engine computes concurrently, at
	// most queue.MaxSlots. Default 1.
	Slots int
	// Member is the name of the Dllama or Session of the runner, and the name of its
	// group if it has one; "" for none. Gateways show it to clients.
	Member string
	// Traffic is the group until the registry lists Member as a member of the
	// Model; nil is the group without a name.
	Traffic *queue.Traffic
	Listen  string   // "host:port" of health and metrics; "" for none
	Hosts   []string // of health and metrics, see httpserver.Options
	// Supervisor restarts the engine, and with it the whole topology, when it is
	// silent for longer than Timeouts allow: a hanging engine never recovers. nil
	// disables restarts.
	Supervisor Supervisor
	// Tracer creates a span for each attempt; nil drops spans.
	Tracer trace.Tracer

	Timeouts Timeouts
	// TTL is how long the runner's record outlives its last heartbeat, in whole
	// seconds. After it the runner counts as lost. Default 9 s.
	TTL time.Duration
	// Grace is the time for generations that have sent text to finish after
	// Run's context has ended. Default 25 s.
	Grace  time.Duration
	Logger *slog.Logger // nil: slog.Default()
}

// Timeouts limit the phases of an attempt. The request's Timeout limits the whole
// attempt.
type Timeouts struct {
	Connect time.Duration // default 5 s
	First   time.Duration // to the first token, prompt evaluation included; default 30 min
	Between time.Duration // between two tokens; default 10 min
}

const (
	defaultTTL     = 9 * time.Second
	defaultConnect = 5 * time.Second
	defaultFirst   = 30 * time.Minute
	defaultBetween = 10 * time.Minute
)

// Check validates the configuration without a bus, as Run does. Errors: Invalid.
func (c *Config) Check() error {
	if !bus.IsToken(c.Session) {
		return fault.Errorf(fault.Invalid, "cannot run a sidecar for session %q: it is not one subject token", c.Session)
	}
	if !bus.IsToken(c.Runner) {
		return fault.Errorf(fault.Invalid, "cannot run a sidecar named %q: the name is not one subject token", c.Runner)
	}
	if c.Slots < 0 || c.Slots > queue.MaxSlots {
		return fault.Errorf(fault.Invalid, "cannot run a sidecar with %d slots: use 1 to %d", c.Slots, queue.MaxSlots)
	}
	if t := c.Traffic; t != nil && (t.Group == "" || t.Weight < 0 || t.Weight > queue.MaxWeight) {
		return fault.Errorf(fault.Invalid, "cannot run a sidecar in group %q with weight %d: name the group, and use a weight of 0 to %d",
			t.Group, t.Weight, queue.MaxWeight)
	}
	for _, d := range []time.Duration{c.Timeouts.Connect, c.Timeouts.First, c.Timeouts.Between, c.Grace} {
		if d < 0 {
			return fault.Errorf(fault.Invalid, "cannot run a sidecar with a timeout of %s: it must not be negative", d)
		}
	}
	if c.TTL > 0 && c.TTL < time.Second {
		return fault.Errorf(fault.Invalid, "cannot run a sidecar with a TTL of %s: the least is 1s", c.TTL)
	}
	return nil
}

func (c *Config) setDefaults() error {
	if c.Bus == nil || c.Engine == nil {
		return fault.Errorf(fault.Internal, "cannot run a sidecar without bus and engine")
	}
	if err := c.Check(); err != nil {
		return err
	}
	c.Slots = max(c.Slots, 1)
	setDefault(&c.Timeouts.Connect, defaultConnect)
	setDefault(&c.Timeouts.First, defaultFirst)
	setDefault(&c.Timeouts.Between, defaultBetween)
	setDefault(&c.TTL, defaultTTL)
	setDefault(&c.Grace, engine.AnswerGrace)
	if c.Tracer == nil {
		c.Tracer = telemetry.NoTracer()
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.Logger = c.Logger.With("session", c.Session, "runner", c.Runner)
	return nil
}

func setDefault(d *time.Duration, to time.Duration) {
	if *d <= 0 {
		*d = to
	}
}

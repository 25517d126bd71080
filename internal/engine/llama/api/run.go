package api

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/network/httpserver"
)

// Defaults of dllama-api.
const (
	DefaultPort        = 9990
	DefaultTemperature = 0.8
	DefaultTopP        = 0.9
)

// A Config configures Run.
type Config struct {
	Engine llama.Config
	Model  string // id of the model; "" means the file name of the model

	Host         string   // "" means 127.0.0.1
	Port         int      // 0 means a free one
	Hosts        []string // names in the Host header that are served; empty is all; see httpserver.AllowsHost
	HealthListen string   // "host:port" of /healthz, /readyz and /metrics; "" means none

	Sampling llama.Sampling // see Options.Sampling
	Waiting  int            // see Options.Waiting
	Grace    time.Duration  // how long answers may go on once ctx has ended; 0 means 15 s
	Logger   *slog.Logger   // nil means slog.Default()

	// Ready, if set, is called once requests are accepted. Health is nil if
	// there is no health listener.
	Ready func(api, health net.Addr)
}

func (c Config) validate() error {
	if c.Port < 0 || c.Port > 65535 {
		return fault.Errorf(fault.Invalid, "cannot serve engine: the port is %d, want 0 to 65535", c.Port)
	}
	if t := c.Sampling.Temperature; !(t >= 0 && t <= 2) {
		return fault.Errorf(fault.Invalid, "cannot serve engine: the temperature is %g, want 0 to 2", t)
	}
	if p := c.Sampling.TopP; !(p >= 0 && p <= 1) {
		return fault.Errorf(fault.Invalid, "cannot serve engine: top-p is %g, want 0 to 1", p)
	}
	return nil
}

// errLoading is why the server is not ready at first.
var errLoading = errors.New("the model is being opened")

// Run opens the engine and serves it until ctx ends; then it accepts no more
// requests, lets answers finish for the grace, and returns nil. It binds the API
// port once the engine can answer, and /readyz succeeds from then on.
func Run(ctx context.Context, c Config) error {
	if err := c.validate(); err != nil {
		return err
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	s := &server{Config: c, metrics: NewMetrics()}
	s.notReady.Store(&errLoading)

	// Health outlives the API: while answers finish, the server is alive and not
	// ready.
	healthCtx, endHealth := context.WithCancel(context.WithoutCancel(ctx))
	defer endHealth()
	g, ctx := errgroup.WithContext(ctx)
	if c.HealthListen != "" {
		l, err := httpserver.Listen(ctx, c.HealthListen)
		if err != nil {
			return err
		}
		s.health = l.Addr()
		check := httpserver.Check{Name: "engine", Probe: func(context.Context) error { return *s.notReady.Load() }}
		g.Go(func() error {
			return httpserver.Serve(healthCtx, l, httpserver.Health(s.metrics.Gatherer(), check), httpserver.Options{Name: "health", Hosts: httpserver.HostsOrAny(c.Hosts), Grace: time.Second, Logger: c.Logger})
		})
	}
	g.Go(func() error {
		defer endHealth()
		return s.run(ctx)
	})
	return g.Wait()
}

// modelID returns the configured id, or the name of the model's file as
// dllama-api does.
func (c Config) modelID() string {
	if c.Model != "" {
		return c.Model
	}
	return filepath.Base(c.Engine.Model)
}

func (c Config) address() string {
	host := c.Host
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(c.Port))
}

// modified returns when a file was last written, or zero if that is not known.
func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

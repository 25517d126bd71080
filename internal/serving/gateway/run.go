package gateway

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/network/httpserver"
	"github.com/gorizond/koldun/internal/serving/gateway/responsestore"
)

// Run serves until ctx ends, and returns nil then. Both ports are open from
// the start; the API answers once NATS is reached and the registry is known.
// Errors: those of httpserver.Listen and bus.Connect; Denied if NATS refuses the
// credentials for Config.Bus.Patience.
func Run(ctx context.Context, cfg Config) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	api, err := httpserver.Listen(ctx, cfg.Listen)
	if err != nil {
		return err
	}
	defer func() { _ = api.Close() }()
	p := newProcess(cfg)
	group, ctx := errgroup.WithContext(ctx)
	// Health outlives the API, to report that it shuts down.
	healthCtx, stopHealth := context.WithCancel(context.WithoutCancel(ctx))
	var healthAddr net.Addr
	if cfg.HealthListen != "" {
		health, err := httpserver.Listen(ctx, cfg.HealthListen)
		if err != nil {
			stopHealth()
			return err
		}
		healthAddr = health.Addr()
		h := httpserver.Health(p.metrics.registry, p.checks(ctx)...)
		group.Go(func() error {
			return httpserver.Serve(healthCtx, health, h, httpserver.Options{Name: "health", Hosts: httpserver.HostsOrAny(cfg.Hosts), Logger: cfg.Logger})
		})
	}
	if cfg.listening != nil {
		cfg.listening(api.Addr(), healthAddr)
	}
	group.Go(func() error {
		defer stopHealth()
		return p.serve(ctx, api)
	})
	return group.Wait()
}

// A process is a gateway that may not have reached NATS yet.
type process struct {
	cfg     Config
	metrics *metrics
	up      chan struct{} // closed when gateway is set
	gateway *Gateway
}

func newProcess(cfg Config) *process {
	return &process{cfg: cfg, metrics: newMetrics(), up: make(chan struct{})}
}

func (p *process) serve(ctx context.Context, l net.Listener) error {
	b, err := bus.Connect(ctx, p.cfg.Bus)
	if err != nil {
		return fault.UnlessStopped(ctx, err)
	}
	defer b.Close()
	p.metrics.registry.MustRegister(b.Metrics()...)
	ctx, refused := b.Admitted(ctx)
	err = p.serveOn(ctx, b, l)
	return cmp.Or(refused(), err)
}

// serveOn serves until ctx ends.
func (p *process) serveOn(ctx context.Context, b *bus.Bus, l net.Listener) error {
	if err := b.Ensure(ctx); err != nil {
		return fault.UnlessStopped(ctx, err)
	}
	if p.cfg.ResponsesTTL > 0 {
		if err := responsestore.Ensure(ctx, b, p.cfg.ResponsesMaxBytes); err != nil {
			return fault.UnlessStopped(ctx, err)
		}
	}
	g := newGateway(b, p.cfg, p.metrics, defaultTiming)
	// The watches of the registry end after the last request.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	done := g.start(work)
	defer func() { stop(); <-done }()
	p.gateway = g
	close(p.up)
	if err := g.synced(ctx); err != nil {
		return fault.UnlessStopped(ctx, err)
	}
	// The handler answers other hosts and pages of other sites in the form of the API.
	o := httpserver.Options{Name: "api", OwnGuard: true, Grace: p.cfg.Grace, Drain: p.cfg.drain(), Logger: p.cfg.Logger}
	return httpserver.Serve(ctx, l, under(p.cfg.BasePath, g.Handler()), o)
}

// checks returns the conditions of readiness. ctx ends with the process.
func (p *process) checks(ctx context.Context) []httpserver.Check {
	ifUp := func(probe func(*Gateway) error) func(context.Context) error {
		return func(context.Context) error {
			select {
			case <-p.up:
				return probe(p.gateway)
			default:
				return errors.New("NATS has not been reached yet")
			}
		}
	}
	return []httpserver.Check{
		{Name: "running", Probe: func(context.Context) error {
			if ctx.Err() != nil {
				return errors.New("shutting down")
			}
			return nil
		}},
		{Name: "nats", Probe: ifUp((*Gateway).connected)},
		{Name: "registry", Probe: ifUp((*Gateway).complete)},
	}
}

// under serves what a path has below it as if that were at the root, and other paths as they
// are. The empty path has nothing.
func under(base string, h http.Handler) http.Handler {
	base = strings.TrimSuffix(base, "/")
	if base == "" {
		return h
	}
	below := http.StripPrefix(base, h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, base+"/") {
			below.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

package gateway

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/network/httpserver"
	"github.com/gorizond/koldun/internal/serving/gateway/capability"
	"github.com/gorizond/koldun/internal/serving/gateway/demand"
	"github.com/gorizond/koldun/internal/serving/gateway/limits"
	"github.com/gorizond/koldun/internal/serving/gateway/socket"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// Gateway holds what the handlers share.
type Gateway struct {
	cfg        Config
	timing     timing
	bus        *bus.Bus
	queue      requestQueue
	models     *registry.Cache[registry.Model]
	tokens     *registry.Cache[registry.Token]
	slots      *demand.Slots
	runners    *capability.Runners
	demand     *demand.Announcer
	usage      *limits.Usage
	bodies     *bodies
	parsing    *parsing
	reports    *limits.Reports
	metrics    *metrics
	background *background
	stored     responseStore
	sockets    *socket.Counter
	log        *slog.Logger
}

func newGateway(b *bus.Bus, cfg Config, m *metrics, t timing) *Gateway {
	slots := demand.NewSlots(b, cfg.MaxSessions, cfg.DemandTTL, cfg.Logger)
	usage := limits.New(limits.Bounds{PerSession: cfg.MaxPerSession, PerTenant: cfg.MaxPerTenant, BytesPerTenant: cfg.MaxBytesPerTenant})
	return &Gateway{
		cfg:        cfg,
		timing:     t,
		bus:        b,
		queue:      natsQueue{queue.New(b)},
		models:     registry.Models(b).Cache(),
		tokens:     registry.Tokens(b).Cache(),
		slots:      slots,
		runners:    capability.New(b),
		demand:     demand.NewAnnouncer(registry.Demands(b), slots, cfg.DemandTTL, cfg.Logger),
		usage:      usage,
		bodies:     newBodies(cfg.MaxBodyMemory),
		parsing:    newParsing(),
		reports:    limits.NewReports(b, cfg.Namespace, newID(time.Now()), usage, cfg.Logger),
		metrics:    m,
		log:        cfg.Logger,
		background: newBackground(),
		stored:     storeOf(b, cfg),
		sockets:    socket.NewCounter(),
	}
}

// backgroundGrace is how long background functions may run after all requests
// have ended.
const backgroundGrace = 2 * time.Second

// start runs what the handlers rely on until ctx ends. It closes the channel
// once all of that has ended.
func (g *Gateway) start(ctx context.Context) <-chan struct{} {
	var running sync.WaitGroup
	running.Go(func() { g.models.Run(ctx) })
	running.Go(func() { g.tokens.Run(ctx) })
	running.Go(func() { g.runners.Run(ctx) })
	running.Go(func() { g.demand.Run(ctx) })
	running.Go(func() { g.reports.Run(ctx) })
	if g.cfg.Isolation != IsolateModel {
		running.Go(func() { g.slots.Run(ctx) })
	}
	done := make(chan struct{})
	go func() {
		running.Wait()
		g.sockets.Wait(backgroundGrace)
		g.background.close(backgroundGrace)
		close(done)
	}()
	return done
}

// synced blocks until models and tokens are known, or ctx ends.
func (g *Gateway) synced(ctx context.Context) error {
	wanted := []<-chan struct{}{g.models.Synced(), g.tokens.Synced()}
	if g.cfg.Isolation != IsolateModel {
		wanted = append(wanted, g.slots.Synced())
	}
	for _, c := range wanted {
		select {
		case <-c:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// checks returns the conditions of readiness on the port of the API, which answers
// only once the gateway has started.
func (g *Gateway) checks() []httpserver.Check {
	return []httpserver.Check{
		{Name: "nats", Probe: func(context.Context) error { return g.connected() }},
		{Name: "registry", Probe: func(context.Context) error { return g.complete() }},
	}
}

func (g *Gateway) connected() error { return g.bus.Lost() }

func (g *Gateway) complete() error {
	if err := isClosed(g.models.Synced(), "models"); err != nil {
		return err
	}
	return isClosed(g.tokens.Synced(), "tokens")
}

func isClosed(c <-chan struct{}, what string) error {
	select {
	case <-c:
		return nil
	default:
		return errors.New("the " + what + " are not known yet")
	}
}

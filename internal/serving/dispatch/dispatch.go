// Package dispatch assigns each accepted request to exactly one runner, follows
// it to its end, and records the end. Several dispatchers may run: one leads each
// session, and another takes over within seconds.
//
// A leader consists of parts, each of which calls only parts before it: the term and the
// records, which any goroutine may use; the loop, whose goroutine owns what follows; the
// peers, the stream and the positions; the ledger; the roster; the intake.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gorizond/koldun/internal/network/httpserver"
)

// Run leads every session with requests or runners and without another leader,
// until ctx ends. Then it releases its sessions, so that other dispatchers can
// lead them at once, and returns nil. It returns an error if it cannot start.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.setDefaults(); err != nil {
		return err
	}
	var listener net.Listener
	if cfg.Listen != "" {
		l, err := httpserver.Listen(ctx, cfg.Listen)
		if err != nil {
			return fmt.Errorf("cannot serve health of the dispatcher: %w", err)
		}
		listener = l
	}
	m := newManager(cfg)
	var g errgroup.Group
	if listener != nil {
		g.Go(func() error {
			return httpserver.Serve(ctx, listener, m.health(), httpserver.Options{Name: "health", Hosts: cfg.Hosts, Grace: time.Second, Logger: cfg.Logger})
		})
	}
	g.Go(func() error { m.run(ctx); return nil })
	return g.Wait()
}

// health serves /healthz, /readyz (NATS is connected and its buckets are read) and
// /metrics.
func (m *manager) health() http.Handler {
	return httpserver.Health(m.metrics.registry,
		httpserver.Check{Name: "nats", Probe: func(context.Context) error { return m.cfg.Bus.Lost() }},
		httpserver.Check{Name: "state", Probe: func(context.Context) error {
			if !m.isSynced() {
				return errors.New("leases and runners are not read yet")
			}
			return nil
		}},
	)
}

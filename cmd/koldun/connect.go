package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/network/httpserver"
)

// rotation is the time that a server waits while NATS refuses its credentials: the
// kubelet takes up to 90 seconds to give it the file of a changed Secret. Then it exits:
// if the credentials are environment variables, a restarted container gets those that
// the Secret holds by then.
const rotation = 2 * time.Minute

// connectAlive is connectBus for a server whose health is on listen: until it
// reaches NATS, it reports there that it is alive and not ready. Without that,
// probes would restart it, and it would be in back-off when NATS comes back. health
// makes its health from the check of NATS.
func connectAlive(
	ctx context.Context, name, listen string, hosts []string, log *slog.Logger, health func(nats httpserver.Check) http.Handler,
) (*bus.Bus, error) {
	cfg, err := busConfig(name, log)
	if err != nil {
		return nil, err
	}
	l, err := httpserver.Listen(ctx, listen)
	if err != nil {
		return nil, err
	}
	waiting, connected := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() {
		unreached := httpserver.Check{Name: "nats", Probe: func(context.Context) error {
			return errors.New("NATS has not been reached yet")
		}}
		o := httpserver.Options{Name: "health", Hosts: hosts, Grace: time.Second, Logger: slog.New(slog.DiscardHandler)}
		served <- httpserver.Serve(waiting, l, health(unreached), o)
	}()
	cfg.Patience = rotation
	b, err := bus.Connect(ctx, cfg)
	connected()
	return b, errors.Join(advise(err), <-served)
}

// plainHealth is the health of a server that nothing else asks.
func plainHealth(nats httpserver.Check) http.Handler { return httpserver.Health(nil, nats) }

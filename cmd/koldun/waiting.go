package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/httpserver"
)

// rotation is how long a server bears that NATS refuses its credentials. Then it
// ends: they came as environment variables, and its container gets what the
// Secret holds by now when it is started again.
const rotation = time.Minute

// connectAlive is connectBus for a server whose health is on listen: until NATS
// is reached it says there that it lives and is not ready. If it did not, it
// would be ended again and again, and wait out a back-off when NATS comes back.
func connectAlive(ctx context.Context, name, listen string, log *slog.Logger) (*bus.Bus, error) {
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
		health := httpserver.Health(nil, httpserver.Check{Name: "nats", Probe: func(context.Context) error {
			return errors.New("NATS has not been reached yet")
		}})
		served <- httpserver.Serve(waiting, l, health, httpserver.Options{Name: "health", Grace: time.Second, Logger: slog.New(slog.DiscardHandler)})
	}()
	cfg.Patience = rotation
	b, err := bus.Connect(ctx, cfg)
	connected()
	return b, errors.Join(advise(err), <-served)
}

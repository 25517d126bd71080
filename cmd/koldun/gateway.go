package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/gorizond/koldun/internal/gateway"
)

// GatewayCmd serves the OpenAI-compatible API. It connects to NATS as the
// environment says: NATS_URL, NATS_USER and NATS_PASSWORD, or NATS_CREDS.
type GatewayCmd struct {
	Listen          string        `default:":8082" help:"Address of the API."`
	HealthListen    string        `default:":8083" help:"Address of /healthz, /readyz and /metrics."`
	Namespace       string        `default:"default" help:"Namespace of models that are named without one."`
	AllowAnonymous  bool          `help:"Answer requests without an API token."`
	ResponseTimeout time.Duration `default:"10m" help:"Longest time for one answer, from the moment the engine starts on it."`
	QueueTimeout    time.Duration `default:"1h" help:"Longest time that a request waits for its turn."`
}

// Run serves until ctx ends.
func (c *GatewayCmd) Run(ctx context.Context, log *slog.Logger) error {
	cfg, err := busConfig("gateway", log)
	if err != nil {
		return err
	}
	return gateway.Run(ctx, gateway.Config{
		Bus:             cfg,
		Listen:          listenAddress(c.Listen),
		HealthListen:    listenAddress(c.HealthListen),
		Namespace:       c.Namespace,
		AllowAnonymous:  c.AllowAnonymous,
		ResponseTimeout: c.ResponseTimeout,
		QueueTimeout:    c.QueueTimeout,
		Logger:          log,
	})
}

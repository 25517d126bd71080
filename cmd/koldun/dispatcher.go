package main

import (
	"context"
	"log/slog"

	"github.com/gorizond/koldun/internal/dispatch"
)

// DispatcherCmd assigns requests to runners. It connects to NATS as the
// environment says.
type DispatcherCmd struct {
	Listen      string `default:":8083" help:"Address of /healthz, /readyz and /metrics."`
	Identity    string `required:"" help:"Name of this process in leases."`
	MaxAttempts int    `default:"3" help:"How often a request is tried before its first token."`
}

// Run leads sessions until ctx ends.
func (c *DispatcherCmd) Run(ctx context.Context, log *slog.Logger) error {
	oneCore()
	listen := listenAddress(c.Listen)
	b, err := connectAlive(ctx, "dispatcher", listen, log)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	defer b.Close()
	return dispatch.Run(ctx, dispatch.Config{
		Bus:         b,
		Identity:    c.Identity,
		Listen:      listen,
		MaxAttempts: c.MaxAttempts,
		Logger:      log,
	})
}

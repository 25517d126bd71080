package main

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/serving/dispatch"
)

// DispatcherCmd assigns requests to runners. It connects to NATS as the
// environment says.
type DispatcherCmd struct {
	Listen      string   `default:":8083" help:"Address of /healthz, /readyz and /metrics."`
	AllowedHost []string `name:"allowed-host" env:"KOLDUN_ALLOWED_HOSTS" placeholder:"NAME" help:"Host name that requests may name beside IP addresses. May be repeated; none is localhost and the names of Services and pods."`
	Identity    string   `required:"" help:"Name of this process in leases."`
	MaxAttempts int      `default:"3" help:"How often a request is tried before its first token."`
}

// Run leads sessions until ctx ends.
func (c *DispatcherCmd) Run(ctx context.Context, log *slog.Logger) error {
	oneCore()
	defer collectLess()()
	if err := positive("max-attempts", c.MaxAttempts); err != nil {
		return err
	}
	cfg := dispatch.Config{Identity: c.Identity, Listen: listenAddress(c.Listen), Hosts: c.AllowedHost, MaxAttempts: c.MaxAttempts, Logger: log}
	if err := cfg.Check(); err != nil {
		return err
	}
	b, err := connectAlive(ctx, "dispatcher", cfg.Listen, cfg.Hosts, log, plainHealth)
	if err != nil {
		return fault.UnlessStopped(ctx, err)
	}
	defer b.Close()
	cfg.Bus = b
	ctx, refused := b.Admitted(ctx)
	err = dispatch.Run(ctx, cfg)
	return cmp.Or(advise(refused()), err)
}

package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/gorizond/koldun/internal/supervise"
)

// SuperviseCmd runs an engine that is not ours.
type SuperviseCmd struct {
	HealthListen string        `default:"" help:"Address of /healthz, /readyz and /metrics; empty is none."`
	WaitFor      []string      `placeholder:"HOST:PORT" help:"Health address of a worker's supervisor: the command starts once the worker listens. May be repeated."`
	Grace        time.Duration `default:"0" help:"How long a session may go on after a signal to end; 0 is 110s for a root, 140s for a worker."`
	Command      []string      `arg:"" passthrough:"" help:"Program and arguments, after --."`
}

// Run supervises until ctx ends.
func (c *SuperviseCmd) Run(ctx context.Context, log *slog.Logger) error {
	command := c.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	return supervise.Run(ctx, supervise.Config{
		Command:      command,
		WaitFor:      c.WaitFor,
		HealthListen: listenAddress(c.HealthListen),
		Grace:        c.Grace,
		Init:         os.Getpid() == 1,
		Output:       os.Stdout,
		Logger:       log,
	})
}

package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/gorizond/koldun/internal/engine/catalog"
	"github.com/gorizond/koldun/internal/engine/supervise"
	"github.com/gorizond/koldun/internal/fault"
)

// SuperviseCmd runs an engine of another project.
type SuperviseCmd struct {
	Engine       string        `default:"distributed-llama" help:"Engine that the command runs."`
	HealthListen string        `default:"" help:"Address of /healthz, /readyz and /metrics; empty is none."`
	RestartKey   string        `name:"restart-key-file" env:"KOLDUN_RESTART_KEY_FILE" placeholder:"FILE" help:"Where to write the key that restarts the engine, for the sidecar; empty: it is not restarted by request."`
	WaitFor      []string      `placeholder:"HOST:PORT" help:"Health address of a worker's supervisor: the command starts once the worker listens. May be repeated."`
	Grace        time.Duration `default:"0" help:"How long a session may continue after a signal to end; 0 is 110s for a root, 140s for a worker."`
	Command      []string      `arg:"" passthrough:"" help:"Program and arguments, after --."`
}

// Run supervises the command until ctx ends.
func (c *SuperviseCmd) Run(ctx context.Context, log *slog.Logger) error {
	command := c.Command
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	engine, err := catalog.ByName(c.Engine)
	if err != nil {
		return err
	}
	if engine.Process == nil {
		return fault.Errorf(fault.Invalid, "cannot supervise engine %q: it needs no supervisor", c.Engine)
	}
	return supervise.Run(ctx, supervise.Config{
		Command:      command,
		Engine:       engine.Process,
		WaitFor:      c.WaitFor,
		HealthListen: listenAddress(c.HealthListen),
		KeyFile:      c.RestartKey,
		Grace:        c.Grace,
		Init:         os.Getpid() == 1,
		Output:       os.Stdout,
		Logger:       log,
	})
}

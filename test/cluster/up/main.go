// Command up runs a cluster for development: a Kubernetes API server, Crossplane
// with Koldun's packages, a node that runs pods as processes of this machine, NATS,
// an object store and a hub. All listen on loopback only. Ctrl-C stops the cluster
// and removes its data.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/gorizond/koldun/internal/local/embedded/s3"
	"github.com/gorizond/koldun/internal/local/process"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// CLI is the command line.
type CLI struct {
	Bare   bool   `help:"Do not install Koldun's packages; apply package/install.yaml yourself."`
	HubDir string `default:"examples/models" type:"existingdir" help:"Folder of models that stands for huggingface.co."`
	Env    string `default:".koldun/control-plane.env" type:"path" help:"File for the environment variables of its clients."`
}

// Run runs the cluster until ctx ends.
func (c *CLI) Run(ctx context.Context) error {
	say("Starting a control plane ...")
	control, err := cluster.New(ctx, cluster.Options{})
	if err != nil {
		return err
	}
	defer control.Close()
	root, err := cluster.Repository() // before the object store changes the working directory
	if err != nil {
		return err
	}
	say("Building Koldun ...")
	s, err := serve(ctx, control.Dir(), c.HubDir)
	if err != nil {
		return err
	}
	defer s.close()
	p, err := platform.Start(ctx, control, root, filepath.Join(control.Dir(), "platform"), s.services)
	if err != nil {
		return err
	}
	defer p.Stop()
	if !c.Bare {
		say("Installing Koldun's packages ...")
		if err := p.Install(ctx); err != nil {
			return err
		}
	}
	if err := writeEnv(c.Env, root, p, s.services); err != nil {
		return err
	}
	defer os.Remove(c.Env) //nolint:errcheck // its addresses are no longer valid
	say("\nReady. In another terminal:\n\n    source %s\n\nCtrl-C ends it and removes everything.\n", c.Env)
	newForwarder(p).watch(ctx)
	say("Ending ...")
	return nil
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func main() {
	process.ExitWithParent()
	s3.RunChild()
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c CLI
	k := kong.Parse(&c, kong.Name("control-plane"), kong.Description("A cluster with Koldun, to play with."))
	err := c.Run(ctx)
	if ctx.Err() != nil {
		err = nil // it was interrupted while starting
	}
	k.FatalIfErrorf(err)
}

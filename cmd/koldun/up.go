package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/cmd/koldun/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/local/terminal"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/telemetry"
)

// localImage is how containers of this program are known on this machine. It
// is the same for all versions: a new one keeps what an older one made.
const localImage = "ghcr.io/gorizond/koldun:latest"

// UpCmd runs claims on this machine. On SIGHUP it reads them again.
type UpCmd struct {
	Files  []string       `name:"file" short:"f" required:"" help:"Claims to run; - is standard input."`
	HubDir string         `type:"existingdir" help:"Serve the models of this folder as a hub, in place of huggingface.co."`
	Data   string         `default:".koldun" type:"path" help:"Folder for everything that is kept: models, queue, logs."`
	Port   map[string]int `placeholder:"SERVICE=PORT" help:"Local port of a Service, in place of its own; 0 is a free one."`
	Ask    string         `default:"What is Koldun?" help:"Question to ask when all is ready; empty asks nothing."`
	Once   bool           `help:"End after the answer, or when all is ready."`
}

// Run runs the claims until ctx ends, with --once until the answer is there.
func (c *UpCmd) Run(ctx context.Context, cli *CLI) error {
	schemas, err := validation.Load()
	if err != nil {
		return err
	}
	claims, err := readClaims(ctx, schemas, c.Files)
	if err != nil {
		return err
	}
	data, err := local.OpenData(c.Data)
	if err != nil {
		return err
	}
	defer func() { _ = data.Close() }()
	logFile, err := os.Create(data.Path("logs", "koldun.log"))
	if err != nil {
		return fmt.Errorf("cannot write log: %w", err)
	}
	defer func() { _ = logFile.Close() }()
	log, err := telemetry.NewLogger(logFile, cli.LogLevel, telemetry.Text)
	if err != nil {
		return err
	}
	m := &machine{cmd: c, data: data, log: log, schemas: schemas, screen: terminal.New(os.Stdout, terminal.Detect(os.Stdout)), out: os.Stdout}
	defer m.screen.Close()
	return m.run(ctx, claims)
}

// A machine is this machine in place of a cluster: servers that a cluster has,
// and local, which runs what the functions compose.
type machine struct {
	cmd     *UpCmd
	data    *local.Data
	log     *slog.Logger
	schemas *validation.Schemas
	screen  *terminal.Terminal
	out     io.Writer
}

func (m *machine) run(ctx context.Context, claims []local.Object) error {
	// Servers outlive ctx: what runs on them is stopped first.
	s, err := m.serve(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := m.local(ctx, s, claims)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var g errgroup.Group
	g.Go(func() error {
		defer cancel()
		return l.Run(ctx)
	})
	g.Go(func() error { m.reload(ctx, l); return nil })
	err = m.follow(ctx, l)
	if err != nil || m.cmd.Once {
		cancel()
	}
	if ended := g.Wait(); ended != nil {
		return ended
	}
	if errors.Is(err, context.Canceled) || fault.Is(err, fault.Interrupted) {
		return nil // stopped as asked, and nothing is left running
	}
	return err
}

// reload takes the claims anew whenever the process gets SIGHUP, until ctx ends.
// Claims that cannot be read leave everything as it is.
func (m *machine) reload(ctx context.Context, l *local.Local) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
		}
		claims, err := readClaims(ctx, m.schemas, m.cmd.Files)
		if err == nil {
			err = l.Apply(claims)
		}
		if err != nil && ctx.Err() == nil {
			m.say(fmt.Sprintf("\nThe claims stay as they were: %v\n", err))
			continue
		}
		m.say("\nThe claims were read again.\n")
	}
}

func (m *machine) local(ctx context.Context, s *servers, claims []local.Object) (*local.Local, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find this program: %w", err)
	}
	if binary, err = filepath.EvalSymlinks(binary); err != nil {
		return nil, fmt.Errorf("cannot find this program: %w", err)
	}
	env := []string{envListenHost + "=127.0.0.1", "KOLDUN_ALLOWED_HOSTS=localhost", "KOLDUN_LOG_FORMAT=text"}
	if s.hub != "" {
		env = append(env, names.EnvHFEndpoint+"="+s.hub)
	}
	var l *local.Local
	resources, err := managed.New(ctx, managed.Config{
		Bus: s.bus, NATS: s.nats, S3: s.s3, Hubs: hubs(s.hub, m.log), Default: m.schemas.Default,
		Secrets:    func(namespace string) []local.Secret { return l.Secrets(namespace) },
		Composites: func(kind, namespace string) []local.Composite { return l.Composites(kind, namespace) },
	})
	if err != nil {
		return nil, err
	}
	s.close = append(s.close, resources.Close)
	l, err = local.New(local.Config{
		Claims:      claims,
		Data:        m.data,
		Composer:    newComposer(m.schemas, localImage),
		Managed:     resources,
		Observer:    m.screen,
		Binary:      binary,
		OwnImage:    localImage,
		Env:         env,
		Ports:       m.cmd.Port,
		FinalReason: reason.Final,
		Logger:      m.log,
	})
	return l, err
}

// follow waits for the claims, asks the question, and waits for ctx to end.
func (m *machine) follow(ctx context.Context, l *local.Local) error {
	roots, err := l.Wait(ctx)
	if err != nil {
		return err
	}
	for _, r := range roots {
		if r.Failed {
			return fault.Errorf(fault.Invalid, "%s cannot be served: %s: %s", r.Object.Key(), r.Reason, r.Message)
		}
	}
	for _, r := range roots {
		if err := m.introduce(ctx, l, r); err != nil {
			return err
		}
	}
	if m.cmd.Once {
		return nil
	}
	m.say("\nServing. Ctrl-C stops everything.\n")
	<-ctx.Done()
	return ctx.Err()
}

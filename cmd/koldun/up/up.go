// Package up is koldun up: it runs claims on this machine, without a cluster.
package up

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/cmd/koldun/claims"
	"github.com/gorizond/koldun/cmd/koldun/composer"
	"github.com/gorizond/koldun/cmd/koldun/managed"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/local/terminal"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/telemetry"
)

// localImage is the image of containers that run this program. It is the same for
// all versions, so that a new version does not replace the objects of an old one.
const localImage = "ghcr.io/gorizond/koldun:latest"

// onceTries bounds the polls of a server that cannot be reached, with --once. They
// take about half a minute.
const onceTries = 10

// EnvListenHost is the host that servers of koldun listen on by default. koldun up sets it to
// keep everything on loopback.
const EnvListenHost = "KOLDUN_LISTEN_HOST"

// Config is one run of koldun up.
type Config struct {
	Files    []string       // with claims; - is standard input
	HubDir   string         // whose models it serves as a hub; empty uses huggingface.co
	Data     string         // folder of models, the queue and logs
	Ports    map[string]int // local ports of Services, by name
	Dllama   string         // folder of distributed-llama; empty looks for it
	Ask      string         // when everything is ready; empty asks nothing
	Embedded bool           // use the embedded servers for all claims
	Once     bool           // end after the answer, or once everything is ready
	LogLevel string
}

// Run runs the claims until ctx ends, with Once until the question is answered. On SIGHUP it
// reads them again.
func Run(ctx context.Context, cfg Config) error {
	schemas, err := validation.Load()
	if err != nil {
		return err
	}
	read, err := claims.Read(ctx, schemas, cfg.Files)
	if err != nil {
		return err
	}
	data, err := local.OpenData(cfg.Data)
	if err != nil {
		return err
	}
	defer func() { _ = data.Close() }()
	logFile, err := os.Create(data.Path("logs", "koldun.log"))
	if err != nil {
		return fmt.Errorf("cannot write log: %w", err)
	}
	defer func() { _ = logFile.Close() }()
	log, err := telemetry.NewLogger(logFile, cfg.LogLevel, telemetry.Text)
	if err != nil {
		return err
	}
	m := &run{cfg: cfg, data: data, log: log, schemas: schemas, screen: terminal.New(os.Stdout, terminal.Detect(os.Stdout)), out: os.Stdout}
	defer m.screen.Close()
	return m.serve(ctx, read)
}

// A run has the servers that a cluster would have, and package local, which runs the
// composed objects.
type run struct {
	cfg     Config
	data    *local.Data
	log     *slog.Logger
	schemas *validation.Schemas
	screen  *terminal.Terminal
	out     io.Writer
}

func (m *run) serve(ctx context.Context, claims []local.Object) error {
	// The servers outlive ctx, because their clients stop first.
	s, err := m.startServers(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := m.local(s, claims)
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
	if err != nil || m.cfg.Once {
		cancel()
	}
	if ended := g.Wait(); ended != nil {
		return ended
	}
	if errors.Is(err, context.Canceled) || fault.Is(err, fault.Interrupted) {
		return nil // stopped on request
	}
	return err
}

// reload reads the claims again on every SIGHUP, until ctx ends. Claims that it
// cannot read change nothing.
func (m *run) reload(ctx context.Context, l *local.Local) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
		}
		read, err := claims.Read(ctx, m.schemas, m.cfg.Files)
		if err == nil {
			err = l.Apply(read)
		}
		if err != nil && ctx.Err() == nil {
			m.say(fmt.Sprintf("\nCannot reload claims, the old ones stay in effect: %v\n", err))
			continue
		}
		m.say("\nReloaded claims.\n")
	}
}

func (m *run) local(s *servers, claims []local.Object) (*local.Local, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find the koldun executable: %w", err)
	}
	if binary, err = filepath.EvalSymlinks(binary); err != nil {
		return nil, fmt.Errorf("cannot find the koldun executable: %w", err)
	}
	programs, err := findDllama(m.cfg.Dllama, os.Getenv("PATH"), filepath.Dir(binary))
	if err != nil {
		return nil, err
	}
	env := []string{EnvListenHost + "=127.0.0.1", "KOLDUN_ALLOWED_HOSTS=localhost", "KOLDUN_LOG_FORMAT=text"}
	if programs.folder != "" {
		env = append(env, "PATH="+programs.folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	if s.hub != "" {
		env = append(env, names.EnvHFEndpoint+"="+s.hub)
	}
	tries := 0
	if m.cfg.Once {
		tries = onceTries
		env = append(env, "KOLDUN_NO_DRAIN=true") // nobody else sends requests
	}
	var l *local.Local
	resources := managed.New(managed.Config{
		NATS: s.nats, S3: s.s3, Hub: s.hub, EmbeddedOnly: m.cfg.Embedded, Log: m.log, Using: m.using, Default: m.schemas.Default,
		Configs:    func(kind, namespace, name string) (local.Object, bool) { return l.Config(kind, namespace, name) },
		Secrets:    func(namespace string) []local.Secret { return l.Secrets(namespace) },
		Composites: func(kind, namespace string) []local.Composite { return l.Composites(kind, namespace) },
	})
	s.close = append(s.close, resources.Close)
	l, err = local.New(local.Config{
		Claims:      claims,
		Data:        m.data,
		Composer:    composer.New(m.schemas, compose.Config{Image: localImage, Cores: runtime.NumCPU(), Processes: true, Trusted: true}),
		Managed:     resources,
		Observer:    m.screen,
		Binary:      binary,
		OwnImage:    localImage,
		Program:     programs.check,
		Servers:     findServers(),
		Exec:        []string{"exec", "--"},
		Memory:      machineMemory(),
		Tries:       tries,
		Env:         env,
		Login:       s.users.login,
		Ports:       m.cfg.Ports,
		FinalReason: reason.Final,
		Logger:      m.log,
	})
	return l, err
}

// using prints a server when it is first used.
func (m *run) using(u managed.Use) {
	what, where := map[managed.System]string{managed.NATS: "NATS", managed.S3: "Store"}[u.System], u.Address
	switch {
	case u.Embedded:
		where = "embedded, in " + m.cfg.Data
	case where == "":
		where = "Amazon S3"
	}
	m.say(fmt.Sprintf("  %-8s  %s\n", what, where))
}

// follow waits until the claims are ready, asks the question, and waits for ctx to
// end.
func (m *run) follow(ctx context.Context, l *local.Local) error {
	roots, err := l.Wait(ctx)
	if err != nil {
		return err
	}
	for _, r := range roots {
		if r.Failed {
			return fault.Errorf(fault.Invalid, "cannot serve %s: %s: %s", r.Object.Key(), r.Reason, r.Message)
		}
	}
	for _, r := range roots {
		if err := m.present(ctx, l, r); err != nil {
			return err
		}
	}
	if m.cfg.Once {
		return nil
	}
	m.say("\nServing. Press Ctrl-C to stop.\n")
	<-ctx.Done()
	return ctx.Err()
}

package serving_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/dispatch"
	"github.com/gorizond/koldun/internal/embedded/nats"
	"github.com/gorizond/koldun/internal/engineapi"
	"github.com/gorizond/koldun/internal/gateway"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/sidecar"
	"github.com/gorizond/koldun/internal/waittest"
)

// newTogether starts what newStack starts in this process: everything has its
// own connection to NATS and talks over sockets, but none has to be woken by the
// operating system. What is left is what the code of Koldun and NATS costs.
func newTogether(b *testing.B, p plan) *stack {
	b.Helper()
	share(b, p)
	s := &stack{tb: b, dir: b.TempDir()}
	srv, err := nats.Start(context.Background(), nats.Config{Dir: s.dir + "/nats", User: user, Password: password, SyncAlways: p.sync})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(srv.Close)
	s.natsURL = srv.ClientURL()
	conn := s.bus()
	if err := conn.Ensure(b.Context()); err != nil {
		b.Fatal(err)
	}
	s.register(conn, modelName)
	s.admit(conn, p.tenants...)
	log, dispatcher := s.log("dispatcher"), s.bus()
	s.run(func(ctx context.Context) error {
		return dispatch.Run(ctx, dispatch.Config{Bus: dispatcher, Identity: "d", Logger: log})
	})
	for i := range p.runners {
		s.runTogether(i)
	}
	listen, health := address(b), address(b)
	s.urls, s.gatewayHealth = []string{"http://" + listen}, []string{health}
	log = s.log("gateway")
	s.run(func(ctx context.Context) error {
		return gateway.Run(ctx, gateway.Config{
			Bus:    bus.Config{URL: s.natsURL, User: user, Password: password, Name: "gateway", Logger: log},
			Listen: listen, HealthListen: health, AllowAnonymous: len(p.tenants) == 0, Logger: log,
		})
	})
	ready(b, health)
	return s
}

// threadsOnDisk is how many goroutines may run at once for each core when NATS
// makes each write reach the disk: a thread that waits for the disk keeps its
// place among GOMAXPROCS until the runtime looks, which takes as long.
const threadsOnDisk = 2

// share makes up for what all share in one process that else each has: some MiB
// of garbage that may lie around before it is collected, and threads.
func share(b *testing.B, p plan) {
	b.Helper()
	percent, procs := debug.SetGCPercent(400), runtime.GOMAXPROCS(0)
	if p.sync {
		runtime.GOMAXPROCS(threadsOnDisk * procs)
	}
	b.Cleanup(func() {
		debug.SetGCPercent(percent)
		runtime.GOMAXPROCS(procs)
	})
}

// runTogether starts an engine and its sidecar.
func (s *stack) runTogether(i int) {
	s.tb.Helper()
	e := newEngine(address(s.tb), io.Discard)
	if err := e.Run(); err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(e.Stop)
	s.engineURLs = append(s.engineURLs, e.URL)
	engine, err := engineapi.New(e.URL)
	if err != nil {
		s.tb.Fatal(err)
	}
	name, conn := fmt.Sprintf("r%d", i), s.bus()
	log := s.log("sidecar-" + name)
	health := address(s.tb)
	s.run(func(ctx context.Context) error {
		return sidecar.Run(ctx, sidecar.Config{
			Bus: conn, Engine: engine, Session: names.Session(namespace, modelName, ""), Runner: name, Model: modelID,
			Listen: health, Grace: time.Second, Logger: log,
		})
	})
	ready(s.tb, health)
}

// run calls a server until the test ends.
func (s *stack) run(server func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server(ctx) }()
	s.tb.Cleanup(func() {
		cancel()
		if err := waittest.Receive(s.tb, "a server to end", done); err != nil {
			s.tb.Error(err)
		}
	})
}

// log is what processes write, to a file as theirs.
func (s *stack) log(name string) *slog.Logger {
	s.tb.Helper()
	f, err := os.Create(filepath.Join(s.dir, name+".log"))
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(func() { _ = f.Close() })
	return slog.New(slog.NewJSONHandler(f, nil))
}

// cpu is the CPU time that this process has used.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

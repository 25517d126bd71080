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

	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/local/embedded/nats"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/internal/serving/dispatch"
	"github.com/gorizond/koldun/internal/serving/gateway"
	"github.com/gorizond/koldun/internal/serving/sidecar"
	"github.com/gorizond/koldun/test/waittest"

	"github.com/gorizond/koldun/test/history"
)

// newInProcess starts the same stack as newStack in this process. Each component
// has its own connection to NATS and communicates over sockets, but the operating
// system does not switch processes. Benchmarks then show the cost of the code.
func newInProcess(b *testing.B, p plan) *stack {
	b.Helper()
	tuneRuntime(b, p)
	s := emptyStack(b, "")
	s.broker.newAuthority()
	srv, err := nats.Start(context.Background(), nats.Config{Dir: s.dir + "/nats", Authority: &s.broker.authority, SyncAlways: p.sync})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(srv.Close)
	s.broker.natsURL = srv.ClientURL()
	s.broker.makeAccount()
	conn := s.broker.bus()
	if err := conn.Ensure(b.Context()); err != nil {
		b.Fatal(err)
	}
	s.registerModel(conn, modelName)
	s.registerTenants(conn, p.tenants...)
	log, dispatcher := s.log("dispatcher"), s.broker.connect(s.broker.user(natsauth.Dispatcher, nil))
	s.run(func(ctx context.Context) error {
		return dispatch.Run(ctx, dispatch.Config{Bus: dispatcher, Identity: "d", Logger: log})
	})
	for i := range p.runners {
		s.startRunner(i)
	}
	listen, health := address(b), address(b)
	s.urls, s.gatewayHealth = []string{"http://" + listen}, []string{health}
	log = s.log("gateway")
	s.run(func(ctx context.Context) error {
		return gateway.Run(ctx, gateway.Config{
			Bus:    s.broker.busConfig(s.broker.user(natsauth.Gateway, nil)),
			Listen: listen, HealthListen: health, AllowAnonymous: len(p.tenants) == 0, Logger: log,
		})
	})
	ready(b, health)
	return s
}

// threadsPerCore is GOMAXPROCS per core when NATS syncs each write to disk: a
// thread blocked in a sync counts toward GOMAXPROCS until the runtime notices,
// which takes as long as the sync.
const threadsPerCore = 2

// tuneRuntime compensates for what the components share in one process: each
// process of a cluster has its own garbage budget of some MiB and its own threads.
func tuneRuntime(b *testing.B, p plan) {
	b.Helper()
	percent, procs := debug.SetGCPercent(400), runtime.GOMAXPROCS(0)
	if p.sync {
		runtime.GOMAXPROCS(threadsPerCore * procs)
	}
	b.Cleanup(func() {
		debug.SetGCPercent(percent)
		runtime.GOMAXPROCS(procs)
	})
}

// startRunner starts an engine and its sidecar in this process.
func (s *stack) startRunner(i int) {
	s.tb.Helper()
	e := history.NewEngine(address(s.tb), io.Discard)
	if err := e.Run(); err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(e.Stop)
	s.engineURLs = append(s.engineURLs, e.URL)
	engine, err := engineapi.New(e.URL)
	if err != nil {
		s.tb.Fatal(err)
	}
	name, conn := fmt.Sprintf("r%d", i), s.broker.connect(s.broker.user(natsauth.Runner, runnerTags(fmt.Sprintf("r%d", i))))
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

// run runs a server until the test ends.
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

// log returns a logger that writes to a file, as processes do.
func (s *stack) log(name string) *slog.Logger {
	s.tb.Helper()
	f, err := os.Create(filepath.Join(s.dir, name+".log"))
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(func() { _ = f.Close() })
	return slog.New(slog.NewJSONHandler(f, nil))
}

// cpu returns the CPU time that this process has used.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

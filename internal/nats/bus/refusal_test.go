package bus_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"
)

// A guarded server has one user, with a password that can change.
type guarded struct {
	t   *testing.T
	srv *server.Server
	opt server.Options
}

func startGuarded(t *testing.T, password string) *guarded {
	t.Helper()
	g := &guarded{t: t, opt: server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
		Username: "koldun", Password: password,
	}}
	opts := g.opt
	srv, err := server.NewServer(&opts)
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	if !srv.ReadyForConnections(waittest.Patience) {
		t.Fatal("the server accepts no clients")
	}
	g.srv, g.opt.Port = srv, opts.Port
	return g
}

// rotate changes the password. The server disconnects clients that use another
// one.
func (g *guarded) rotate(password string) {
	g.t.Helper()
	opts := g.opt
	opts.Password = password
	if err := g.srv.ReloadOptions(&opts); err != nil {
		g.t.Fatal(err)
	}
}

func (g *guarded) config(password string, patience time.Duration) bus.Config {
	return bus.Config{URL: g.srv.ClientURL(), User: "koldun", Password: password, Patience: patience}
}

// lines receives the lines of a log, and drops them when it is full.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	select {
	case l <- string(p):
	default:
	}
	return len(p), nil
}

func TestRefusedAtOnce(t *testing.T) {
	g := startGuarded(t, "right-SECRET")
	host := strings.TrimPrefix(g.srv.ClientURL(), "nats://")
	for name, c := range map[string]struct {
		cfg bus.Config
		who string
	}{
		"User":   {g.config("wrong-SECRET", 0), `user "koldun" with its password`},
		"URL":    {bus.Config{URL: "nats://koldun:wrong-SECRET@" + host}, `user "koldun" with the password in its URL`},
		"InURL":  {bus.Config{URL: "nats://wrong-SECRET@" + host}, "the token in its URL"},
		"Token":  {bus.Config{URL: g.srv.ClientURL(), Token: "wrong-SECRET"}, "the token"},
		"Nobody": {bus.Config{URL: g.srv.ClientURL()}, "a client without credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := bus.Connect(testContext(t), c.cfg)
			if !fault.Is(err, fault.Denied) {
				t.Fatalf("Connect: %v of kind %s, want Denied", err, fault.KindOf(err))
			}
			if want := `cannot connect to NATS at "nats://` + host + `": the server refuses ` + c.who + ": "; !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("Connect: %v, want %q and no secret", err, want)
			}
		})
	}
}

func TestPatienceOutlastsARotation(t *testing.T) {
	g := startGuarded(t, "old")
	type result struct {
		bus *bus.Bus
		err error
	}
	done := make(chan result, 1)
	told := make(lines, 100)
	cfg := g.config("new-SECRET", time.Hour)
	cfg.Logger = slog.New(slog.NewTextHandler(told, nil))
	ctx := testContext(t)
	go func() {
		b, err := bus.Connect(ctx, cfg)
		done <- result{b, err}
	}()
	select {
	case text := <-told: // immediately, although Connect retries
		if !strings.Contains(text, "the server refuses user") || strings.Contains(text, "SECRET") {
			t.Errorf("the log says %q, want the refusal without the password", text)
		}
	case <-testContext(t).Done():
		t.Fatal("the refusal is not logged")
	}
	g.rotate("new-SECRET")
	r := <-done
	if r.err != nil {
		t.Fatal(r.err)
	}
	r.bus.Close()
}

func TestRefusedWhileConnected(t *testing.T) {
	g := startGuarded(t, "old")
	patient, err := bus.Connect(testContext(t), g.config("old", time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	defer patient.Close()
	hasty, err := bus.Connect(testContext(t), g.config("old", time.Nanosecond))
	if err != nil {
		t.Fatal(err)
	}
	defer hasty.Close()
	stays, stopStays := patient.Admitted(t.Context())
	ends, stopEnds := hasty.Admitted(t.Context())

	g.rotate("new")
	select {
	case <-ends.Done():
	case <-testContext(t).Done():
		t.Fatal("a refused client continues")
	}
	if err := context.Cause(ends); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), `the server refuses user "koldun" with its password`) {
		t.Errorf("the cause is %v of kind %s", err, fault.KindOf(err))
	}
	if err := stopEnds(); !fault.Is(err, fault.Denied) {
		t.Errorf("stop: %v, want Denied", err)
	}
	waittest.Until(t, "a known refusal", func() bool { return fault.Is(patient.Lost(), fault.Denied) })

	g.rotate("old")
	waittest.Until(t, "the connection", func() bool { return patient.Lost() == nil })
	if err := stays.Err(); err != nil {
		t.Errorf("a client that was refused briefly stops: %v", context.Cause(stays))
	}
	if err := stopStays(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

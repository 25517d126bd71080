package bus_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/test/waittest"
)

// A credentialsFile holds a user of role gateway, which a test renews.
type credentialsFile struct {
	t       *testing.T
	server  *natstest.OperatorServer
	account natstest.Tenant
	user    natsauth.User
	path    string
}

func newCredentialsFile(t *testing.T, lives time.Duration) *credentialsFile {
	t.Helper()
	s := natstest.StartOperator(t)
	f := &credentialsFile{t: t, server: s, account: s.Account("team", natsauth.Limits{}), path: filepath.Join(t.TempDir(), "user.creds")}
	f.write(f.account.User(natsauth.Gateway, nil, lives))
	return f
}

func (f *credentialsFile) write(u natsauth.User, err error) {
	f.t.Helper()
	if err == nil {
		f.user = u
		err = os.WriteFile(f.path+".new", []byte(u.Credentials), 0o600)
	}
	if err == nil {
		err = os.Rename(f.path+".new", f.path)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *credentialsFile) renew(lives time.Duration) {
	f.t.Helper()
	f.write(f.account.Renew(f.user, natsauth.Gateway, nil, lives))
}

func (f *credentialsFile) connect(cfg bus.Config) *bus.Bus {
	f.t.Helper()
	cfg.URL, cfg.CredsFile = f.server.URL(), f.path
	b, err := bus.Connect(testContext(f.t), cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(b.Close)
	return b
}

// count returns a metric of a connection.
func count(t *testing.T, b *bus.Bus, name string) int {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(b.Metrics()...)
	all, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range all {
		if family.GetName() == name {
			return int(family.GetMetric()[0].GetCounter().GetValue())
		}
	}
	t.Fatalf("there is no metric %q", name)
	return 0
}

const (
	renewals   = "koldun_nats_credential_renewals_total"
	violations = "koldun_nats_permission_violations_total"
)

// TestCredentialsAreRenewed renews credentials of six seconds each second, for longer than
// the first ones last. No connection may last until their end, and requests are answered all
// the time.
func TestCredentialsAreRenewed(t *testing.T) {
	t.Parallel()
	const lives, rounds = 6 * time.Second, 7
	f := newCredentialsFile(t, lives)
	log := make(lines, 1000)
	b := f.connect(bus.Config{Logger: slog.New(slog.NewTextHandler(log, nil))})
	other := f.server.Everything(f.account)
	if _, err := other.Conn().Subscribe(names.CancelSubject("s", "*"), func(m *nats.Msg) { _ = m.Respond([]byte("1")) }); err != nil {
		t.Fatal(err)
	}
	ask := time.NewTicker(time.Millisecond)
	defer ask.Stop()
	// The times in credentials are whole seconds. A busy machine, or an answer that is lost
	// with a connection, delays a renewal by seconds, which must not make it overdue.
	again := time.NewTicker(time.Second)
	defer again.Stop()
	asked, repeated, longest := 0, 0, time.Duration(0)
	waittest.Until(t, "renewals", func() bool {
		select {
		case <-again.C:
			f.renew(lives)
		case <-ask.C:
		}
		for begun := time.Now(); ; repeated++ {
			ctx, cancel := context.WithTimeout(testContext(t), time.Second)
			_, err := bus.Call[int](ctx, b, names.CancelSubject("s", "r"), 1)
			cancel()
			if err == nil {
				longest = max(longest, time.Since(begun))
				asked++
				return count(t, b, renewals) >= rounds
			}
			if !fault.Is(err, fault.Transient) {
				t.Fatal(err)
			}
		}
	})
	t.Logf("%d requests with answers, %d repeated, the longest took %v", asked, repeated, longest)
	b.Close()
	for range len(log) { // not closed: the handlers of nats.go may run after Close
		if line := <-log; strings.Contains(line, "level=WARN") {
			t.Error(line)
		}
	}
	if n := count(t, b, violations); n != 0 {
		t.Errorf("NATS refused %d messages", n)
	}
}

// TestViolationsAreCounted uses a subject of another role.
func TestViolationsAreCounted(t *testing.T) {
	t.Parallel()
	f := newCredentialsFile(t, 0)
	log := make(lines, 10)
	b := f.connect(bus.Config{Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err := b.Conn().Publish(names.AssignSubject("s", "r"), nil); err != nil {
		t.Fatal(err)
	}
	if line := waittest.Receive(t, "a warning", log); !strings.Contains(line, "level=WARN") || !strings.Contains(line, names.AssignSubject("s", "r")) {
		t.Errorf("the log says %q, want a warning with the subject", line)
	}
	if n := count(t, b, violations); n != 1 {
		t.Errorf("%d violations were counted, want 1", n)
	}
}

// TestFileWithAnotherUser ends a process whose answers belong to a user that is gone.
func TestFileWithAnotherUser(t *testing.T) {
	t.Parallel()
	f := newCredentialsFile(t, 0)
	b := f.connect(bus.Config{})
	ctx, stop := b.Admitted(testContext(t))
	f.write(f.account.User(natsauth.Gateway, nil, 0))
	waittest.Receive(t, "the end of the process", ctx.Done())
	if err := stop(); !fault.Is(err, fault.Denied) || !strings.Contains(err.Error(), f.path) {
		t.Errorf("the process ends with %v, want an error of kind Denied that names the file", err)
	}
}

// TestOverdueCredentials tests that the log warns once if nobody renews a file of credentials.
// A busy machine may miss the last fifth of a short lifetime, so longer ones are tried next.
func TestOverdueCredentials(t *testing.T) {
	t.Parallel()
	said := 0
	for _, lives := range []time.Duration{2 * time.Second, 10 * time.Second, 50 * time.Second} {
		if said = overdue(t, lives); said > 0 {
			break
		}
		t.Logf("credentials of %v ended without a warning", lives)
	}
	if said != 1 {
		t.Errorf("the log warns %d times before the end, want once", said)
	}
}

// overdue returns how many warnings the log has before the credentials of a file expire.
func overdue(t *testing.T, lives time.Duration) (said int) {
	t.Helper()
	f := newCredentialsFile(t, lives)
	log := make(lines, 100)
	f.connect(bus.Config{Logger: slog.New(slog.NewTextHandler(log, nil)), Patience: time.Hour})
	for {
		line := waittest.Receive(t, "the end of the credentials", log)
		if strings.Contains(line, "their file has no newer ones") {
			said++
		}
		if strings.Contains(line, "NATS refuses the credentials") {
			return said
		}
	}
}

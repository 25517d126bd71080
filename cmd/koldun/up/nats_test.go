package up

import (
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/internal/local/embedded/nats"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"
)

// serveNATSIn starts the embedded NATS of koldun up on a data folder.
func serveNATSIn(t *testing.T, data *local.Data) *servers {
	t.Helper()
	m, s := &run{data: data, log: slog.New(slog.DiscardHandler)}, &servers{}
	if err := m.serveNATS(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s
}

func connectTo(t *testing.T, cfg bus.Config) *bus.Bus {
	t.Helper()
	b, err := bus.Connect(waittest.Context(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// TestDataOfEarlierVersions opens a data folder whose NATS server had no accounts, and
// then once more.
func TestDataOfEarlierVersions(t *testing.T) {
	data, err := local.OpenData(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = data.Close() })
	old, err := nats.Start(t.Context(), nats.Config{Dir: data.Path("nats"), User: "koldun", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	b := connectTo(t, bus.Config{URL: old.ClientURL(), User: "koldun", Password: "p"})
	if err := b.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	key := names.TokenKey(strings.Repeat("0", 64))
	if _, err := b.Put(t.Context(), names.TokensBucket, key, "a token"); err != nil {
		t.Fatal(err)
	}
	b.Close()
	old.Close()
	var earlier bus.Config
	for range 2 {
		s := serveNATSIn(t, data)
		if earlier.URL != "" {
			earlier.URL = s.nats.URL
			if b, err := bus.Connect(waittest.Context(t), earlier); !fault.Is(err, fault.Denied) {
				t.Errorf("credentials of an earlier run: %v, want Denied", err)
				b.Close()
			}
		}
		b := connectTo(t, s.nats)
		if got, _, err := b.GetBytes(t.Context(), names.TokensBucket, key); err != nil || string(got) != `"a token"` {
			t.Errorf("the token is %s, %v", got, err)
		}
		b.Close()
		s.Close()
		earlier = s.nats
	}
}

// TestProcessesHaveTheirRoles gives each process of koldun up a user of its own.
func TestProcessesHaveTheirRoles(t *testing.T) {
	data, err := local.OpenData(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = data.Close() })
	s := serveNATSIn(t, data)
	t.Cleanup(s.Close)
	runner := []string{"llm", "--session=ns_tiny", "--runner=ns_tiny-root-0", "--model=ns/tiny", "--slots=2"}
	for name, c := range map[string]struct {
		args                 []string
		may, mayNot          string // subjects to publish on
		nothing, otherServer bool
	}{
		"Gateway":    {args: []string{"gateway", "--listen=:0"}, may: names.RequestSubject("s", "t"), mayNot: names.OutcomeOf("s", "t", "r")},
		"Dispatcher": {args: []string{"dispatcher"}, may: names.OutcomeOf("s", "t", "r"), mayNot: names.RequestSubject("s", "t")},
		"Runner":     {args: runner, may: names.EndSubject("ns_tiny"), mayNot: names.EndSubject("ns_other")},
		"Fetch":      {args: []string{"fetch", "--from=x", "--progress-key=ns/0/fetch"}, may: "$KV.koldun_progress.ns/0/fetch", mayNot: "$KV.koldun_progress.ns/0/convert"},
		"Server":     {args: []string{"fetch", "--from=x"}, nothing: true},
		"Supervisor": {args: []string{"supervise", "--", "gateway"}, nothing: true},
		"Engine":     {nothing: true},
		"Elsewhere":  {args: runner, otherServer: true},
	} {
		t.Run(name, func(t *testing.T) {
			vars := map[string]string{"A": "1"}
			for key, value := range s.nats.Env() {
				vars[key] = string(value)
			}
			if c.otherServer {
				vars = map[string]string{names.EnvNATSURL: "nats://claimed:4222", names.EnvNATSCreds: "theirs"}
			}
			before := maps.Clone(vars)
			creds, err := s.users.login(c.args, vars)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.otherServer:
				if creds != nil || !maps.Equal(vars, before) {
					t.Errorf("the connection to another server is changed to %v", vars)
				}
				return
			case c.nothing:
				if creds != nil || len(vars) != 1 {
					t.Errorf("the process gets %q", slices.Sorted(maps.Keys(vars)))
				}
				return
			case vars[names.EnvNATSCreds] != "":
				t.Error("the process gets the credentials of koldun up")
			}
			nc := connectTo(t, bus.Config{URL: vars[names.EnvNATSURL], Creds: string(creds), WithoutJetStream: true}).Conn()
			for subject, allowed := range map[string]bool{c.may: true, c.mayNot: false} {
				if err := nc.Publish(subject, nil); err != nil {
					t.Fatal(err)
				}
				if err := nc.Flush(); err != nil {
					t.Fatal(err)
				}
				if refused := nc.LastError() != nil && strings.Contains(nc.LastError().Error(), subject); refused == allowed {
					t.Errorf("publish on %q: refused %t", subject, refused)
				}
			}
		})
	}
}

// TestOperatorOfKoldunUp connects as koldun requests does.
func TestOperatorOfKoldunUp(t *testing.T) {
	dir := t.TempDir()
	data, err := local.OpenData(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = data.Close() })
	s := serveNATSIn(t, data)
	cfg, err := Connection(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	connectTo(t, cfg)
	files := []string{cfg.CredsFile, data.Path(connectionFile)}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%q has mode %v, want 0600", file, info.Mode())
		}
	}
	s.Close()
	for _, file := range files {
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("koldun up leaves %q: %v", file, err)
		}
	}
}

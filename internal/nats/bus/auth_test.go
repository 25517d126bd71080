package bus_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
)

func TestLogIn(t *testing.T) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		server server.Options
		cfg    bus.Config
	}{
		"Token": {server.Options{Authorization: "a-token"}, bus.Config{Token: "a-token"}},
		"NKey":  {server.Options{Nkeys: []*server.NkeyUser{{Nkey: public}}}, bus.Config{NKeySeed: string(seed)}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.server.Host, c.server.Port, c.server.JetStream, c.server.StoreDir = "127.0.0.1", server.RANDOM_PORT, true, t.TempDir()
			s, err := server.NewServer(&c.server)
			if err != nil {
				t.Fatal(err)
			}
			s.Start()
			defer s.Shutdown()
			c.cfg.URL = s.ClientURL()
			b, err := bus.Connect(testContext(t), c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			b.Close()
			if _, err := bus.Connect(testContext(t), bus.Config{URL: c.cfg.URL}); !fault.Is(err, fault.Denied) {
				t.Errorf("Connect without credentials: %v of kind %s, want Denied", err, fault.KindOf(err))
			}
		})
	}
}

func TestCredentialsThatAreNone(t *testing.T) {
	for name, c := range map[string]bus.Config{
		"NKey":  {NKeySeed: "SUSECRET"},
		"Creds": {Creds: "-----BEGIN SECRET"},
		"CA":    {CA: "SECRET"},
		"Cert":  {Cert: "SECRET", Key: "SECRET"},
	} {
		t.Run(name, func(t *testing.T) {
			c.URL = "nats://127.0.0.1:1"
			_, err := bus.Connect(t.Context(), c)
			if !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("Connect: %v of kind %s, want Invalid, and no secret", err, fault.KindOf(err))
			}
		})
	}
}

func TestEnvironmentHoldsAConnection(t *testing.T) {
	for name, want := range map[string]bus.Config{
		"All":  {URL: "nats://a:1", User: "u", Password: "p", Token: "t", NKeySeed: "n", Creds: "-----BEGIN x", CA: "ca", Cert: "c", Key: "k"},
		"File": {URL: "nats://a:1", CredsFile: "/etc/nats/user.creds"},
	} {
		t.Run(name, func(t *testing.T) {
			env := want.Env()
			got := bus.ConfigFromEnv(func(key string) string { return string(env[key]) })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

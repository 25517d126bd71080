package natsuser_test

import (
	"context"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/natsuser"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/test/waittest"
)

// A scene is a server with the account of a namespace, and one resource of it.
type scene struct {
	t      *testing.T
	server *natstest.OperatorServer
	client natsuser.Client
	spec   natsuser.Spec

	all     time.Time // that credentials of all users are revoked before
	overlap time.Duration
}

func newScene(t *testing.T, users ...natsuser.User) *scene {
	t.Helper()
	s := natstest.StartOperator(t)
	accounts := s.Accounts()
	if err := accounts.Ensure(t.Context(), "team", natsauth.Limits{}); err != nil {
		t.Fatal(err)
	}
	return &scene{
		t: t, server: s, client: natsuser.New(accounts, map[string][]byte{"NATS_URL": []byte(s.URL())}),
		spec: natsuser.Spec{Users: users, Namespace: "team", Owner: "o"},
	}
}

// observe observes, and keeps the Secret and the status as a controller does.
func (s *scene) observe() external.Observation[natsuser.Status] {
	s.t.Helper()
	o, err := s.client.Observe(s.t.Context(), s.spec)
	if err != nil {
		s.t.Fatal(err)
	}
	s.spec.Stored, s.spec.Known = o.Connection, o.Status
	return o
}

// connect connects with the credentials of the Secret.
func (s *scene) connect(user string) (*bus.Bus, error) {
	s.t.Helper()
	creds := string(s.spec.Stored[natsuser.File(user)])
	life, ok := natsauth.LifeOf(creds)
	if !ok {
		s.t.Fatalf("the Secret has no credentials of %q", user)
	}
	b, err := bus.Connect(waittest.Context(s.t), bus.Config{URL: s.server.URL(), Creds: creds, InboxPrefix: natsauth.InboxPrefix(life.User)})
	if err == nil {
		s.t.Cleanup(b.Close)
	}
	return b, err
}

func gatewayAndDispatcher() []natsuser.User {
	return []natsuser.User{{Name: "gateway", Role: "gateway"}, {Name: "dispatcher", Role: "dispatcher"}}
}

func TestLifeOfUsers(t *testing.T) {
	s := newScene(t, gatewayAndDispatcher()...)
	o := s.observe()
	if !o.Exists || !o.UpToDate || !o.Ready || len(o.Status.Users) != 2 || o.Status.Account == "" || string(o.Connection["NATS_URL"]) != s.server.URL() {
		t.Fatalf("Observe: %+v", o.Status)
	}
	gateway, err := s.connect("gateway")
	if err != nil {
		t.Fatal(err)
	}
	dispatcher, err := s.connect("dispatcher")
	if err != nil {
		t.Fatal(err)
	}
	before := string(s.spec.Stored["gateway.creds"])
	if s.observe(); string(s.spec.Stored["gateway.creds"]) != before {
		t.Error("credentials that last are replaced")
	}

	// One user less: its credentials end, the other's do not.
	s.spec.Users = s.spec.Users[:1]
	if o := s.observe(); o.UpToDate || len(o.Status.Revoking) != 1 || o.Connection["dispatcher.creds"] != nil {
		t.Fatalf("Observe without the dispatcher: %+v", o.Status)
	}
	if err := s.client.Update(t.Context(), s.spec); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the server to refuse the dispatcher", func() bool { return fault.Is(dispatcher.Lost(), fault.Denied) })
	if o := s.observe(); !o.UpToDate || len(o.Status.Revoking) != 0 || !gateway.Connected() {
		t.Errorf("Observe after Update: %+v, the gateway is connected: %v", o.Status, gateway.Connected())
	}

	for range 2 {
		if err := s.client.Delete(t.Context(), s.spec); err != nil {
			t.Fatal(err)
		}
	}
	waittest.Until(t, "the server to refuse the gateway", func() bool { return fault.Is(gateway.Lost(), fault.Denied) })
}

// TestRenewal observes short-lived credentials until they are replaced by others of the
// same user.
func TestRenewal(t *testing.T) {
	s := newScene(t, natsuser.User{Name: "gateway", Role: "gateway"})
	life := external.Duration(4 * time.Second)
	s.spec.Lifetime = &life
	s.observe()
	first, _ := natsauth.LifeOf(string(s.spec.Stored["gateway.creds"]))
	second, observed := first, time.Time{}
	waittest.Until(t, "other credentials", func() bool {
		if half := first.End.Add(-time.Duration(life) / 2); observed.After(half) {
			t.Errorf("an observation %s after half of the life keeps the credentials", observed.Sub(half))
		}
		observed = time.Now()
		s.observe()
		second, _ = natsauth.LifeOf(string(s.spec.Stored["gateway.creds"]))
		return second.Made != first.Made
	})
	if second.User != first.User {
		t.Error("renewed credentials are of another user")
	}
	if _, err := s.connect("gateway"); err != nil {
		t.Error(err)
	}
}

// TestForeignCredentials finds others in the Secret than those of the spec: its writer
// chose another role, or another account.
func TestForeignCredentials(t *testing.T) {
	s := newScene(t, natsuser.User{Name: "gateway", Role: "gateway"})
	for name, g := range map[string]natsauth.Grant{
		"Role":    {Namespace: "team", Owner: "o/gateway", Role: natsauth.Dispatcher},
		"Account": {Namespace: "other", Owner: "o/gateway", Role: natsauth.Gateway},
	} {
		user, err := natstest.Keyring.User(g, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		s.spec.Stored = map[string][]byte{"gateway.creds": []byte(user.Credentials)}
		s.observe()
		if life, _ := natsauth.LifeOf(string(s.spec.Stored["gateway.creds"])); life.User == user.ID {
			t.Errorf("%s: the credentials stay", name)
		}
	}
}

// TestRefusedUsers asks for roles and values that nobody may choose.
func TestRefusedUsers(t *testing.T) {
	s := newScene(t)
	for name, user := range map[string]natsuser.User{
		"Provider":  {Name: "x", Role: "provider"},
		"Unknown":   {Name: "x", Role: "admin"},
		"Wildcard":  {Name: "x", Role: "job", Progress: ">"},
		"NoTag":     {Name: "x", Role: "runner", Session: "s"},
		"OtherTags": {Name: "x", Role: "gateway", Progress: "p"},
	} {
		s.spec.Users = []natsuser.User{user}
		if _, err := s.client.Observe(t.Context(), s.spec); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, want an error of kind Invalid", name, err)
		}
	}
}

// TestWatchInTime looks several times in the life of credentials.
func TestWatchInTime(t *testing.T) {
	s := newScene(t, natsuser.User{Name: "gateway", Role: "gateway"})
	life := external.Duration(time.Second)
	s.spec.Lifetime = &life
	ctx, cancel := context.WithCancel(waittest.Context(t))
	defer cancel()
	looks := 0
	if err := s.client.Watch(ctx, s.spec, func() {
		if looks++; looks == 3 {
			cancel()
		}
	}); err != nil || looks < 3 {
		t.Errorf("Watch looked %d times: %v", looks, err)
	}
}

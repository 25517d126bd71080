package natsauth_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/test/waittest"
)

// login connects as the provider's user of a namespace.
func login(t *testing.T, s *natstest.OperatorServer, namespace string) (*bus.Bus, error) {
	t.Helper()
	user, err := natstest.Keyring.User(natsauth.Grant{Namespace: namespace, Owner: "test", Role: natsauth.Provider}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return loginWith(t, s, user)
}

func loginWith(t *testing.T, s *natstest.OperatorServer, user natsauth.User) (*bus.Bus, error) {
	t.Helper()
	b, err := bus.Connect(waittest.Context(t), bus.Config{URL: s.URL(), Creds: user.Credentials, InboxPrefix: user.InboxPrefix})
	if err == nil {
		t.Cleanup(b.Close)
	}
	return b, err
}

func kv(name string) bus.KVSpec { return bus.KVSpec{Bucket: names.Bucket{Name: name}} }

// TestNamespacesAreApart makes two accounts and looks for the streams of one in the other.
func TestNamespacesAreApart(t *testing.T) {
	s := natstest.StartOperator(t)
	accounts := s.Accounts()
	for _, namespace := range []string{"a", "b"} {
		for range 2 { // again changes nothing
			if err := accounts.Ensure(t.Context(), namespace, natsauth.Limits{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	a, err := login(t, s, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.EnsureKV(t.Context(), kv("koldun_models")); err != nil {
		t.Fatal(err)
	}
	b, err := login(t, s, "b")
	if err != nil {
		t.Fatal(err)
	}
	if have, _, err := b.Manager().CompareKV(t.Context(), kv("koldun_models")); have != nil || err != nil {
		t.Errorf("namespace b sees bucket %v of namespace a (%v)", have, err)
	}
}

// TestRemovedAccounts disables, purges and removes an account under a connected user, and
// makes it again.
func TestRemovedAccounts(t *testing.T) {
	for name, purge := range map[string]bool{"Kept": false, "Purged": true} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			s := natstest.StartOperator(t)
			accounts := s.Accounts()
			if err := accounts.Ensure(ctx, "a", natsauth.Limits{}); err != nil {
				t.Fatal(err)
			}
			old, err := natstest.Keyring.User(natsauth.Grant{Namespace: "a", Owner: "old", Role: natsauth.Provider}, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			made := time.Now()
			b, err := loginWith(t, s, old)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.EnsureKV(ctx, kv("koldun_models")); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := accounts.Remove(ctx, "a", purge); err != nil {
					t.Fatal(err)
				}
			}
			waittest.Until(t, "the server to end the connection", func() bool { return b.Lost() != nil })
			if _, err := accounts.State(ctx, "a"); !fault.Is(err, fault.NotFound) {
				t.Fatalf("State of a removed account: %v, want NotFound", err)
			}
			// Credentials of one second before are those of the earlier account.
			waittest.Until(t, "the next second", func() bool { return time.Now().Unix() > made.Unix()+1 })
			if err := accounts.Ensure(ctx, "a", natsauth.Limits{}); err != nil {
				t.Fatal(err)
			}
			if _, err := loginWith(t, s, old); !fault.Is(err, fault.Denied) {
				t.Errorf("earlier credentials connect to the new account: %v", err)
			}
			again, err := login(t, s, "a")
			if err != nil {
				t.Fatal(err)
			}
			have, _, err := again.Manager().CompareKV(ctx, kv("koldun_models"))
			if err != nil || (have == nil) != purge {
				t.Errorf("the new account has bucket %v (%v), with purge %v", have, err, purge)
			}
		})
	}
}

// TestForeignOperators signs with an operator that the server does not trust. The server
// itself would confirm the account, and refuse its users after a restart.
func TestForeignOperators(t *testing.T) {
	s := natstest.StartOperator(t)
	other, err := natsauth.NewAuthority("other")
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := natsauth.NewAccounts(natstest.Manager(t, s.URL(), s.Authority()), other.Signing, natstest.Keyring, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := accounts.Ensure(t.Context(), "a", natsauth.Limits{}); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "does not list the signing key") {
		t.Errorf("Ensure with a foreign operator: %v", err)
	}
	if _, err := s.Accounts().State(t.Context(), "a"); !fault.Is(err, fault.NotFound) {
		t.Errorf("the server has the account of a foreign operator: %v", err)
	}
}

// TestOwnLimits sets limits, which others keep, and some that exceed the server.
func TestOwnLimits(t *testing.T) {
	ctx := t.Context()
	s := natstest.StartOperator(t)
	accounts := s.Accounts()
	usual := natsauth.Limits{Connections: 50}
	state := func(want natsauth.Limits, own bool) {
		t.Helper()
		got, err := accounts.State(ctx, "a")
		if err != nil || got.Limits != want || got.Own != own || !got.Current {
			t.Fatalf("State: %+v, %v, want limits %+v", got, err, want)
		}
	}
	ensure := func(l natsauth.Limits) {
		t.Helper()
		if err := accounts.Ensure(ctx, "a", l); err != nil {
			t.Fatal(err)
		}
	}
	ensure(usual)
	state(usual, false)
	ensure(natsauth.Limits{Connections: 60})
	state(natsauth.Limits{Connections: 60}, false)
	own := natsauth.Limits{Connections: 5, DiskBytes: 8 << 20, Streams: 1}
	if err := accounts.Set(ctx, "a", own, true); err != nil {
		t.Fatal(err)
	}
	ensure(usual)
	state(own, true)

	b, err := login(t, s, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.EnsureKV(ctx, kv("one")); err != nil {
		t.Fatal(err)
	}
	if err := b.EnsureKV(ctx, kv("two")); err == nil {
		t.Error("an account with one stream made another one")
	}

	most := natsauth.Limits{DiskBytes: 1 << 60}
	if err := accounts.Set(ctx, "b", most, true); !fault.Is(err, fault.Quota) || !strings.Contains(err.Error(), "max_file") {
		t.Errorf("more disk than the server has: %v", err)
	}
	if _, err := accounts.State(ctx, "b"); !fault.Is(err, fault.NotFound) {
		t.Errorf("the refused account exists: %v", err)
	}
	if err := accounts.Ensure(ctx, "b", most); !fault.Is(err, fault.Quota) {
		t.Errorf("usual limits beyond what the server has: %v", err)
	}
	if err := accounts.Set(ctx, "a", usual, false); err != nil {
		t.Fatal(err)
	}
	ensure(most) // an account that exists goes on
	state(usual, false)
}

// TestRevokedUsers revokes one of two users.
func TestRevokedUsers(t *testing.T) {
	ctx := t.Context()
	s := natstest.StartOperator(t)
	accounts := s.Accounts()
	if err := accounts.Ensure(ctx, "a", natsauth.Limits{}); err != nil {
		t.Fatal(err)
	}
	var buses []*bus.Bus
	var ids []string
	for _, owner := range []string{"x", "y"} {
		user, err := natstest.Keyring.User(natsauth.Grant{Namespace: "a", Owner: owner, Role: natsauth.Gateway}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		b, err := loginWith(t, s, user)
		if err != nil {
			t.Fatal(err)
		}
		buses, ids = append(buses, b), append(ids, user.ID)
	}
	if err := accounts.Revoke(ctx, "a", map[string]time.Time{ids[0]: time.Now()}); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the server to refuse the revoked user", func() bool { return fault.Is(buses[0].Lost(), fault.Denied) })
	if err := buses[1].Flush(); err != nil {
		t.Errorf("the other user: %v", err)
	}
	state, err := accounts.State(ctx, "a")
	if err != nil || !state.Refused(ids[0]).After(state.Refused(ids[1])) {
		t.Errorf("credentials are refused until %v and %v (%v)", state.Refused(ids[0]), state.Refused(ids[1]), err)
	}
}

// TestKeyringsAreLong refuses one that could be guessed.
func TestKeyringsAreLong(t *testing.T) {
	if _, err := natsauth.Keyring("short").Account("a"); !fault.Is(err, fault.Invalid) {
		t.Errorf("the error is %v, want one of kind Invalid", err)
	}
}

// TestKeysOfUsers compares keys of grants: all that differ in anything have different
// ones, and renewed credentials the same.
func TestKeysOfUsers(t *testing.T) {
	grant := func(namespace, owner string, role natsauth.Role, progress string) natsauth.Grant {
		g := natsauth.Grant{Namespace: namespace, Owner: owner, Role: role, Tags: map[natsauth.Tag]string{}}
		if progress != "" {
			g.Tags[natsauth.Progress] = progress
		}
		return g
	}
	seen := map[string]bool{}
	for _, g := range []natsauth.Grant{
		grant("a", "o", natsauth.Gateway, ""), grant("b", "o", natsauth.Gateway, ""), grant("a", "p", natsauth.Gateway, ""),
		grant("a", "o", natsauth.Dispatcher, ""), grant("a", "o", natsauth.Job, "x"), grant("a", "o", natsauth.Job, "y"),
	} {
		id, err := natstest.Keyring.UserID(g)
		if err != nil || seen[id] {
			t.Errorf("%+v: key %q, %v", g, id, err)
		}
		seen[id] = true
		user, err := natstest.Keyring.User(g, time.Hour)
		if life, ok := natsauth.LifeOf(user.Credentials); err != nil || !ok || user.ID != id || life.User != id || time.Until(life.End) < 59*time.Minute {
			t.Errorf("%+v: user %q, life %+v, %v", g, user.ID, life, err)
		}
	}
}

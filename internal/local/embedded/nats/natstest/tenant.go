package natstest

import (
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/gorizond/koldun/internal/local/embedded/nats"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/test/waittest"
)

// An OperatorServer is a NATS server in operator mode.
type OperatorServer struct {
	*instance

	authority natsauth.Authority
	manager   *client.Conn
}

// StartOperator runs a server in operator mode on a free loopback port until the test
// ends.
func StartOperator(tb testing.TB) *OperatorServer {
	tb.Helper()
	authority, err := natsauth.NewAuthority("test")
	if err != nil {
		tb.Fatal(err)
	}
	return StartOperatorAs(tb, authority)
}

// StartOperatorAs is StartOperator with an operator that the test has made.
func StartOperatorAs(tb testing.TB, authority natsauth.Authority) *OperatorServer {
	tb.Helper()
	s := &OperatorServer{authority: authority}
	s.instance = startInstance(tb, nats.Config{Authority: &s.authority})
	s.manager = Manager(tb, s.URL(), authority)
	return s
}

// Everything returns a connection with all rights of an account, until the test ends.
func (s *OperatorServer) Everything(t Tenant) *bus.Bus {
	s.tb.Helper()
	b, err := bus.Connect(waittest.Context(s.tb), bus.Config{URL: s.URL(), Creds: t.Everything(s.tb).Credentials, Name: s.tb.Name()})
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(b.Close)
	return b
}

// Keyring is what the keys of accounts in tests are derived from.
const Keyring natsauth.Keyring = "test-keyring-of-no-less-than-32-bytes"

// Authority returns the operator of the server.
func (s *OperatorServer) Authority() natsauth.Authority { return s.authority }

// Accounts returns the accounts of namespaces on the server.
func (s *OperatorServer) Accounts() *natsauth.Accounts {
	s.tb.Helper()
	out, err := natsauth.NewAccounts(s.manager, s.authority.Signing, Keyring, 1)
	if err != nil {
		s.tb.Fatal(err)
	}
	return out
}

// OperatorSecret returns the content of the Secret that spec.nats.operator of a
// ProviderConfig names.
func (s *OperatorServer) OperatorSecret() map[string][]byte {
	s.tb.Helper()
	secret, err := s.authority.Secret(Keyring)
	if err != nil {
		s.tb.Fatal(err)
	}
	return secret
}

// Manager waits for a server, and connects as a user that may manage accounts, until the
// test ends.
func Manager(tb testing.TB, url string, authority natsauth.Authority) *client.Conn {
	tb.Helper()
	user, err := authority.Manager()
	if err != nil {
		tb.Fatal(err)
	}
	var nc *client.Conn
	waittest.Until(tb, "NATS to accept the manager of accounts", func() bool {
		nc, err = client.Connect(url, client.UserCredentialBytes([]byte(user.Credentials)), client.CustomInboxPrefix(user.InboxPrefix))
		return err == nil
	})
	tb.Cleanup(nc.Close)
	return nc
}

// A Tenant is an account for tests.
type Tenant struct {
	natsauth.Account
	all natsauth.Seed // signs users with all rights
}

// Account makes an account that the server knows.
func (s *OperatorServer) Account(name string, l natsauth.Limits) Tenant {
	s.tb.Helper()
	return Account(s.tb, s.manager, s.authority, name, l)
}

// Account makes an account, and pushes it to a server.
func Account(tb testing.TB, manager *client.Conn, authority natsauth.Authority, name string, l natsauth.Limits) Tenant {
	tb.Helper()
	account, err := natsauth.NewAccount()
	if err != nil {
		tb.Fatal(err)
	}
	token, err := account.JWT(authority.Signing, name, l)
	if err != nil {
		tb.Fatal(err)
	}
	token, all := withAllRights(tb, token, authority.Signing)
	if err := natsauth.Push(tb.Context(), manager, token); err != nil {
		tb.Fatal(err)
	}
	return Tenant{Account: account, all: all}
}

// Revoke makes the credentials of all users of an account invalid that were made at or
// before a time.
func Revoke(tb testing.TB, manager *client.Conn, authority natsauth.Authority, account string, before time.Time) {
	tb.Helper()
	m, err := manager.RequestWithContext(waittest.Context(tb), "$SYS.REQ.ACCOUNT."+account+".CLAIMS.LOOKUP", nil)
	if err != nil {
		tb.Fatal(err)
	}
	claims, err := jwt.DecodeAccountClaims(string(m.Data))
	if err != nil {
		tb.Fatal(err)
	}
	operator, err := nkeys.FromSeed([]byte(authority.Signing))
	if err != nil {
		tb.Fatal(err)
	}
	claims.RevokeAt(jwt.All, before)
	token, err := claims.Encode(operator)
	if err != nil {
		tb.Fatal(err)
	}
	if err := natsauth.Push(tb.Context(), manager, token); err != nil {
		tb.Fatal(err)
	}
}

// withAllRights adds a signing key to an account that no role limits.
func withAllRights(tb testing.TB, token string, signing natsauth.Seed) (string, natsauth.Seed) {
	tb.Helper()
	key, err := nkeys.CreateAccount()
	if err != nil {
		tb.Fatal(err)
	}
	public, _ := key.PublicKey()
	seed, _ := key.Seed()
	claims, err := jwt.DecodeAccountClaims(token)
	if err != nil {
		tb.Fatal(err)
	}
	claims.SigningKeys.Add(public)
	operator, err := nkeys.FromSeed([]byte(signing))
	if err != nil {
		tb.Fatal(err)
	}
	if token, err = claims.Encode(operator); err != nil {
		tb.Fatal(err)
	}
	return token, natsauth.Seed(seed)
}

// Everything returns a user with all rights of the account, for what a test prepares
// and checks.
func (t Tenant) Everything(tb testing.TB) natsauth.User {
	tb.Helper()
	user, err := natsauth.NewUser(t.all, t.ID, "test", nil)
	if err != nil {
		tb.Fatal(err)
	}
	return user
}

// As returns the connection of a new user of a role.
func (s *OperatorServer) As(t Tenant, role natsauth.Role, tags map[natsauth.Tag]string) bus.Config {
	s.tb.Helper()
	user, err := t.User(role, tags, 0)
	if err != nil {
		s.tb.Fatal(err)
	}
	return bus.Config{URL: s.URL(), Creds: user.Credentials, InboxPrefix: user.InboxPrefix, Name: string(role)}
}

package natstest

import (
	"crypto/hkdf"
	"crypto/sha256"
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/test/waittest"
)

// StartOpenOperator is StartOperator with accounts that Of looks into.
func StartOpenOperator(tb testing.TB) *OperatorServer {
	tb.Helper()
	o := NewOperator(tb)
	o.accountsSign = true
	return StartOperatorAs(tb, o.Authority(o.SigningKey()))
}

// Of waits for the account of a namespace, which a provider makes with Keyring, and returns a
// connection with all rights of it, until the test ends. The server is
// of StartOpenOperator.
func (s *OperatorServer) Of(namespace string) *bus.Bus {
	s.tb.Helper()
	account, err := Keyring.Account(namespace)
	if err != nil {
		s.tb.Fatal(err)
	}
	user, err := natsauth.NewUser(s.identity(namespace), account.ID, "test", func(c *jwt.UserClaims) {
		c.IssuerAccount = "" // the account itself signs it, and none of its roles
	})
	if err != nil {
		s.tb.Fatal(err)
	}
	b, err := bus.Connect(waittest.Context(s.tb), bus.Config{URL: s.URL(), Creds: user.Credentials, InboxPrefix: user.InboxPrefix, Name: s.tb.Name()})
	if err != nil {
		s.tb.Fatalf("cannot connect to the account of namespace %q: %v", namespace, err)
	}
	s.tb.Cleanup(b.Close)
	return b
}

// identity returns the seed of a namespace's account, as Keyring derives it. No process of
// Koldun uses it: their users are signed by the keys of roles.
func (s *OperatorServer) identity(namespace string) natsauth.Seed {
	s.tb.Helper()
	raw, err := hkdf.Key(sha256.New, []byte(Keyring), nil, "koldun nats v1\naccount\n"+namespace, 32)
	if err != nil {
		s.tb.Fatal(err)
	}
	pair, err := nkeys.FromRawSeed(nkeys.PrefixByteAccount, raw)
	if err != nil {
		s.tb.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		s.tb.Fatal(err)
	}
	return natsauth.Seed(seed)
}

package natstest

import (
	"testing"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/gorizond/koldun/internal/nats/natsauth"
)

// An Operator is an operator whose main key is at hand, so that its signing keys can be
// changed.
type Operator struct {
	tb     testing.TB
	main   nkeys.KeyPair
	system natsauth.Authority
	// accountsSign lets accounts sign users themselves, not only by their keys of roles. Koldun's
	// own operators do not allow it.
	accountsSign bool
}

// NewOperator makes an operator without signing keys.
func NewOperator(tb testing.TB) *Operator {
	tb.Helper()
	system, err := natsauth.NewAuthority("test")
	if err != nil {
		tb.Fatal(err)
	}
	o := &Operator{tb: tb, system: system}
	o.main, _ = o.key(nkeys.CreateOperator)
	return o
}

func (o *Operator) key(create func() (nkeys.KeyPair, error)) (pair nkeys.KeyPair, public string) {
	o.tb.Helper()
	pair, err := create()
	if err != nil {
		o.tb.Fatal(err)
	}
	if public, err = pair.PublicKey(); err != nil {
		o.tb.Fatal(err)
	}
	return pair, public
}

// SigningKey makes a key that an operator may list.
func (o *Operator) SigningKey() natsauth.Seed {
	o.tb.Helper()
	pair, _ := o.key(nkeys.CreateOperator)
	seed, err := pair.Seed()
	if err != nil {
		o.tb.Fatal(err)
	}
	return natsauth.Seed(seed)
}

// Authority returns what a server trusts when the operator lists these signing keys. The
// last one has signed the system account.
func (o *Operator) Authority(keys ...natsauth.Seed) natsauth.Authority {
	o.tb.Helper()
	public, err := o.main.PublicKey()
	if err != nil {
		o.tb.Fatal(err)
	}
	claims := jwt.NewOperatorClaims(public)
	claims.StrictSigningKeyUsage, claims.SystemAccount = !o.accountsSign, o.system.SystemID
	out := o.system
	system, err := jwt.DecodeAccountClaims(o.system.System)
	if err != nil {
		o.tb.Fatal(err)
	}
	for _, seed := range keys {
		pair, err := nkeys.FromSeed([]byte(seed))
		if err != nil {
			o.tb.Fatal(err)
		}
		public, _ := pair.PublicKey()
		claims.SigningKeys.Add(public)
		out.Signing = seed
		if out.System, err = system.Encode(pair); err != nil {
			o.tb.Fatal(err)
		}
	}
	if out.Operator, err = claims.Encode(o.main); err != nil {
		o.tb.Fatal(err)
	}
	return out
}

// Trust restarts the server with another operator, or other signing keys of it.
func (s *OperatorServer) Trust(authority natsauth.Authority) {
	s.tb.Helper()
	s.Stop()
	s.authority = authority
	s.Restart()
	s.manager = Manager(s.tb, s.URL(), authority)
}

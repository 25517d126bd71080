package natsauth

import (
	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/gorizond/koldun/internal/fault"
)

// An Authority is the operator of a server and its system account.
type Authority struct {
	Operator    string // JWT, for the server's configuration
	SystemID    string // public key of the system account
	System      string // its JWT, which the server's resolver must hold from the start
	Signing     Seed   // signs accounts
	SystemUsers Seed   // signs users of the system account
	Main        Seed   // signed Operator, and signs nothing else: keep it offline or drop it
}

// NewAuthority makes an operator that accepts only what its signing key has signed.
func NewAuthority(name string) (Authority, error) {
	main, err := newKey(nkeys.CreateOperator)
	if err != nil {
		return Authority{}, err
	}
	signing, err := newKey(nkeys.CreateOperator)
	if err != nil {
		return Authority{}, err
	}
	system, err := newKey(nkeys.CreateAccount)
	if err != nil {
		return Authority{}, err
	}
	users, err := newKey(nkeys.CreateAccount)
	if err != nil {
		return Authority{}, err
	}
	operator := jwt.NewOperatorClaims(main.public)
	operator.Name = name
	operator.SigningKeys.Add(signing.public)
	operator.StrictSigningKeyUsage = true
	operator.SystemAccount = system.public
	out := Authority{SystemID: system.public, Signing: signing.seed, SystemUsers: users.seed, Main: main.seed}
	if out.Operator, err = operator.Encode(main.pair); err != nil {
		return Authority{}, fault.As(fault.Internal, err)
	}
	claims := jwt.NewAccountClaims(system.public)
	claims.Name = "SYS"
	claims.SigningKeys.Add(users.public)
	if out.System, err = claims.Encode(signing.pair); err != nil {
		return Authority{}, fault.As(fault.Internal, err)
	}
	return out, nil
}

// systemSubjects are what a user of the system account needs to manage accounts
// (docs.nats.io, "System Events").
var systemSubjects = []string{
	"$SYS.REQ.CLAIMS.UPDATE", "$SYS.REQ.CLAIMS.DELETE", "$SYS.REQ.CLAIMS.LIST",
	"$SYS.REQ.ACCOUNT.*.CLAIMS.LOOKUP", "$SYS.REQ.SERVER.PING.VARZ", "$SYS.REQ.SERVER.PING.JSZ", "$JS.API.ACCOUNT.PURGE.*",
}

// Manager returns a user of the system account that may manage accounts.
func (a Authority) Manager() (User, error) {
	return NewUser(a.SystemUsers, a.SystemID, "accounts", func(c *jwt.UserClaims) {
		c.Pub.Allow.Add(systemSubjects...)
		c.Sub.Allow.Add(InboxPrefix(c.Subject) + ".>")
	})
}

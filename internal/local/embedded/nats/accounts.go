package nats

import (
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

const (
	accountWait  = 2 * time.Second // for an account that other servers may know
	mostAccounts = 10_000
)

// AccountInterval is how often a server asks the others of its cluster for accounts that
// it has missed.
const AccountInterval = 10 * time.Second

// Trust makes a server trust an operator, and keep its accounts in dir, with the given
// ones from the start. It creates the folder. Errors: Invalid (operator, account),
// Denied (folder).
func Trust(opts *server.Options, a natsauth.Authority, dir string, interval time.Duration, accounts ...string) error {
	operator, err := jwt.DecodeOperatorClaims(a.Operator)
	if err != nil {
		return fault.Errorf(fault.Invalid, "cannot read the JWT of the NATS operator: %w", err)
	}
	resolver, err := server.NewDirAccResolver(dir, mostAccounts, interval, server.RenameDeleted, server.FetchTimeout(accountWait))
	if err != nil {
		return fault.Errorf(fault.Denied, "cannot use the folder %q of NATS accounts: %w", dir, err)
	}
	if err := resolver.Store(a.SystemID, a.System); err != nil {
		return fault.Errorf(fault.Denied, "cannot keep the NATS system account in %q: %w", dir, err)
	}
	for _, token := range accounts {
		claims, err := jwt.DecodeAccountClaims(token)
		if err != nil {
			return fault.Errorf(fault.Invalid, "cannot read the JWT of a NATS account: %w", err)
		}
		if err := resolver.Store(claims.Subject, token); err != nil {
			return fault.Errorf(fault.Denied, "cannot keep the NATS account %q in %q: %w", claims.Name, dir, err)
		}
	}
	opts.TrustedOperators = []*jwt.OperatorClaims{operator}
	opts.SystemAccount = a.SystemID
	opts.AccountResolver = resolver
	return nil
}

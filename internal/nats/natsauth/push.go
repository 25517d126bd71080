package natsauth

import (
	"context"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/fault"
)

// pushTimeout limits a request to the resolvers of the servers.
const pushTimeout = 5 * time.Second

// Push gives the JWT of an account to the servers, as a user that Authority.Manager
// made. All of its users count from then on, and connections of roles that have
// changed are closed. Errors: Invalid (JWT, or an operator that the server does not
// trust), Transient.
func Push(ctx context.Context, manager *nats.Conn, account string) error {
	claims, err := jwt.DecodeAccountClaims(account)
	if err != nil {
		return fault.Errorf(fault.Invalid, "cannot read the JWT of a NATS account: %w", err)
	}
	if err := (resolver{nc: manager, servers: 1}).confirm(ctx, "$SYS.REQ.CLAIMS.UPDATE", []byte(account)); err != nil {
		return fault.Errorf(fault.KindOf(err), "cannot push NATS account %q: %w", claims.Name, err)
	}
	return nil
}

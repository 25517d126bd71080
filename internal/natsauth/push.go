package natsauth

import (
	"context"
	"encoding/json"
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
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	answer, err := manager.RequestWithContext(ctx, "$SYS.REQ.CLAIMS.UPDATE", []byte(account))
	if err != nil {
		return fault.Errorf(fault.Transient, "cannot push NATS account %q: %w", claims.Name, err)
	}
	var said struct {
		Data struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"data"`
		Error struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &said); err != nil {
		return fault.Errorf(fault.Corrupt, "cannot push NATS account %q: %w", claims.Name, err)
	}
	if said.Error.Description != "" || said.Data.Code != 200 {
		return fault.Errorf(fault.Invalid, "cannot push NATS account %q: the server says: %s%s", claims.Name, said.Error.Description, said.Data.Message)
	}
	return nil
}

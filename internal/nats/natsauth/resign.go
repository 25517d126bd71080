package natsauth

import (
	"context"

	"github.com/gorizond/koldun/internal/fault"
)

// Resign signs all accounts of the Keyring with the signing key that another one has
// signed, and leaves accounts of others as they are. When it returns nil, the operator
// of the servers needs no earlier key for them. Errors: those of Set.
func (a *Accounts) Resign(ctx context.Context) error {
	listed, err := a.list(ctx)
	if err != nil {
		return err
	}
	for id := range listed {
		if err := a.resign(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (a *Accounts) resign(ctx context.Context, id string) error {
	a.change.Lock()
	defer a.change.Unlock()
	claims, err := a.claims(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil || claims.Issuer == a.signing.public {
		return err
	}
	// The name of an account is its namespace.
	if ours, err := a.keyring.Account(claims.Name); err != nil || ours.ID != id {
		return err
	}
	return a.put(ctx, claims)
}

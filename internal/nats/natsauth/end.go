package natsauth

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/jwt/v2"

	"github.com/gorizond/koldun/internal/fault"
)

// Revoke ends the connections of users, and makes the credentials invalid that were made
// for each at or before a time. It is no error if there is no account. Errors: Invalid (a
// time in the future), those of Set.
func (a *Accounts) Revoke(ctx context.Context, namespace string, users map[string]time.Time) error {
	found := false
	err := a.edit(ctx, namespace, func(claims *jwt.AccountClaims) error {
		found = true
		for user, before := range users {
			if before.After(time.Now()) {
				return inFuture(before)
			}
			claims.RevokeAt(user, before)
		}
		return nil
	})
	if !found && fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// Remove removes the account of a namespace, with its streams if purge is set. All
// connections end first, and credentials from before stay invalid if the account is made
// again. It returns nil when no server has the account. Errors: Transient while one has,
// such as one that was away and brings the account back; those of Set.
func (a *Accounts) Remove(ctx context.Context, namespace string, purge bool) error {
	account, err := a.keyring.Account(namespace)
	if err != nil {
		return err
	}
	a.change.Lock()
	defer a.change.Unlock()
	have, err := a.claims(ctx, account.ID)
	if fault.Is(err, fault.NotFound) {
		return a.gone(ctx, namespace, account.ID)
	}
	if err != nil {
		return err
	}
	if have.Limits.Conn != 0 {
		disable(have, time.Now())
		if err := a.put(ctx, have); err != nil {
			return err
		}
	}
	if purge {
		if err := a.purge(ctx, account.ID); err != nil {
			return fault.Errorf(fault.KindOf(err), "cannot purge the NATS account of namespace %q: %w", namespace, err)
		}
	}
	if err := a.remove(ctx, account.ID); err != nil {
		return fault.Errorf(fault.KindOf(err), "cannot delete the NATS account of namespace %q: %w", namespace, err)
	}
	return a.gone(ctx, namespace, account.ID)
}

// gone checks that no server has an account.
func (a *Accounts) gone(ctx context.Context, namespace, account string) error {
	listed, err := a.all().list(ctx)
	if err == nil && listed[account] > 0 {
		return fault.Errorf(fault.Transient, "cannot delete the NATS account of namespace %q: %d servers still have it", namespace, listed[account])
	}
	return err
}

// disable makes claims that no user can connect by. They keep the streams.
func disable(claims *jwt.AccountClaims, now time.Time) {
	claims.Limits.Conn, claims.Limits.LeafNodeConn = 0, 0
	claims.RevokeAt(jwt.All, now)
}

// purge deletes all streams of an account.
func (a *Accounts) purge(ctx context.Context, account string) error {
	one := resolver{nc: a.nc, servers: 1} // the leader answers for all
	answers, err := one.ask(ctx, "$JS.API.ACCOUNT.PURGE."+account, nil)
	if err != nil {
		return err
	}
	var said struct {
		Initiated bool `json:"initiated"`
		Error     struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answers[0], &said); err != nil {
		return fault.As(fault.Corrupt, err)
	}
	if !said.Initiated {
		return fault.Errorf(fault.Transient, "the server says: %s", said.Error.Description)
	}
	return nil
}

// remove deletes the claims of an account. The request is signed by its own subject.
func (a *Accounts) remove(ctx context.Context, account string) error {
	order := jwt.NewGenericClaims(a.signing.public)
	order.Data["accounts"] = []string{account}
	text, err := order.Encode(a.signing.pair)
	if err != nil {
		return fault.As(fault.Internal, err)
	}
	return a.all().confirm(ctx, "$SYS.REQ.CLAIMS.DELETE", []byte(text))
}

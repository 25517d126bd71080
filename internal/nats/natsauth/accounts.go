package natsauth

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/fault"
)

// MaxLife is the longest life of credentials that may be revoked.
const MaxLife = 30 * 24 * time.Hour

// ownLimits tags an account whose limits are its own, not those of all.
const ownLimits = "limits:own"

// Accounts are those of namespaces on servers in operator mode. It is safe for concurrent
// use.
type Accounts struct {
	resolver

	signing signer
	keyring Keyring
	change  sync.Mutex // held between reading claims and writing them
}

// NewAccounts returns Accounts that it signs with a signing key of the servers' operator
// and asks them as a user of the system account. Most of the given number of servers have
// to answer each request, and all of them to remove an account.
// Errors: Invalid (seed, keyring).
func NewAccounts(nc *nats.Conn, signing Seed, keyring Keyring, servers int) (*Accounts, error) {
	by, err := operatorSigner(signing)
	if err != nil {
		return nil, err
	}
	return &Accounts{resolver: resolver{nc: nc, servers: max(servers, 1)}, signing: by, keyring: keyring}, keyring.Check()
}

// Keyring returns the keys of accounts and users.
func (a *Accounts) Keyring() Keyring { return a.keyring }

// State of an account.
type State struct {
	ID       string
	Limits   Limits
	Disabled bool
	// Current says that the rights of all roles are those of this program.
	Current bool
	// Own says that the limits are not the usual ones.
	Own bool
	// Cutoff says which credentials are being replaced.
	Cutoff Cutoff

	revoked jwt.RevocationList
}

// Accepts reports whether the account accepts credentials of a user that were made at a
// time.
func (s State) Accepts(user string, made time.Time) bool {
	return made.Unix() > s.revoked[jwt.All] && made.Unix() > s.revoked[user]
}

// State returns what the servers know about the account of a namespace. Errors:
// NotFound, Transient.
func (a *Accounts) State(ctx context.Context, namespace string) (State, error) {
	account, err := a.keyring.Account(namespace)
	if err != nil {
		return State{}, err
	}
	have, err := a.claims(ctx, account.ID)
	if err != nil {
		return State{}, err
	}
	want, err := account.claims(namespace, Limits{})
	if err != nil {
		return State{}, err
	}
	return State{
		ID: account.ID, revoked: have.Revocations, Limits: limitsOf(have), Disabled: have.Limits.Conn == 0, Own: have.Tags.Contains(ownLimits),
		Cutoff:  cutoffOf(have),
		Current: have.Issuer == a.signing.public && reflect.DeepEqual(plain(have.SigningKeys), plain(want.SigningKeys)),
	}, nil
}

// Set makes the account of a namespace, or changes its limits. It enables a disabled
// account; credentials from before stay invalid. Errors: Invalid (servers that do not
// trust the signing key), Quota (disk of a single server), Transient.
func (a *Accounts) Set(ctx context.Context, namespace string, l Limits, own bool) error {
	account, err := a.keyring.Account(namespace)
	if err != nil {
		return err
	}
	claims, err := account.claims(namespace, l)
	if err != nil {
		return err
	}
	if own {
		claims.Tags.Add(ownLimits)
	}
	a.change.Lock()
	defer a.change.Unlock()
	switch have, err := a.claims(ctx, account.ID); {
	case err == nil:
		claims.Revocations = have.Revocations
		cutoffOf(have).keep(claims)
	case fault.Is(err, fault.NotFound):
		// There may be credentials of an earlier account of the namespace.
		claims.RevokeAt(jwt.All, time.Now().Add(-time.Second))
	default:
		return err
	}
	if err := a.fits(ctx, claims); err != nil {
		return err
	}
	return a.put(ctx, claims)
}

// Ensure makes the account of a namespace with the usual limits unless it exists, and
// gives its roles the rights of this program. An account that exists keeps its limits while
// a single server has no room for the usual ones: who uses it must not lose it because a
// limit has come up. Errors: Denied (disabled), those of Set.
func (a *Accounts) Ensure(ctx context.Context, namespace string, usual Limits) error {
	have, err := a.State(ctx, namespace)
	switch {
	case fault.Is(err, fault.NotFound):
		return a.Set(ctx, namespace, usual, false)
	case err != nil:
		return err
	case have.Disabled:
		return fault.Errorf(fault.Denied, "the NATS account of namespace %q is disabled: its NATSAccount was deleted, or is being deleted", namespace)
	case have.Own && !have.Current:
		return a.Set(ctx, namespace, have.Limits, true)
	case !have.Own && (!have.Current || have.Limits != usual):
		err := a.Set(ctx, namespace, usual, false)
		switch kept := have.Limits != usual && fault.Is(err, fault.Quota); {
		case kept && have.Current:
			return nil
		case kept:
			return a.Set(ctx, namespace, have.Limits, false)
		}
		return err
	}
	return nil
}

// edit changes the claims of the account of a namespace, and pushes them. It does not
// call change unless the account exists. Errors: NotFound, that of change, those of Set.
func (a *Accounts) edit(ctx context.Context, namespace string, change func(*jwt.AccountClaims) error) error {
	account, err := a.keyring.Account(namespace)
	if err != nil {
		return err
	}
	a.change.Lock()
	defer a.change.Unlock()
	claims, err := a.claims(ctx, account.ID)
	if err != nil {
		return err
	}
	if err := change(claims); err != nil {
		return err
	}
	return a.put(ctx, claims)
}

// claims returns the claims of an account. Errors: NotFound, Transient.
func (a *Accounts) claims(ctx context.Context, account string) (*jwt.AccountClaims, error) {
	text, err := a.find(ctx, account)
	if err != nil {
		return nil, err
	}
	if text == "" {
		return nil, fault.Errorf(fault.NotFound, "the NATS servers have no account %q", account)
	}
	claims, err := jwt.DecodeAccountClaims(text)
	if err != nil {
		return nil, fault.Errorf(fault.Corrupt, "cannot read the JWT of NATS account %q: %w", account, err)
	}
	return claims, nil
}

// put signs the claims, gives them to the servers, and reads them back. The servers
// confirm claims of any operator, and then refuse all users of the account.
func (a *Accounts) put(ctx context.Context, claims *jwt.AccountClaims) error {
	trusted, err := a.trusts(ctx, a.signing.public)
	if err != nil {
		return err
	}
	if !trusted {
		return fault.Errorf(fault.Invalid, "cannot sign NATS account %q: the operator of the servers does not list the signing key %s. "+
			"Use the seed of a signing key of their operator", claims.Name, a.signing.public)
	}
	forget(claims, time.Now())
	text, err := claims.Encode(a.signing.pair)
	if err != nil {
		return fault.Errorf(fault.Internal, "cannot sign NATS account %q: %w", claims.Name, err)
	}
	if err := a.confirm(ctx, "$SYS.REQ.CLAIMS.UPDATE", []byte(text)); err != nil {
		return fault.Errorf(fault.KindOf(err), "cannot push NATS account %q: %w", claims.Name, err)
	}
	found, err := a.find(ctx, claims.Subject)
	if err == nil && found != text {
		return fault.Errorf(fault.Conflict, "cannot push NATS account %q: the servers hold other claims than the pushed ones; is there another operator?", claims.Name)
	}
	return err
}

// fits refuses an account whose disk exceeds that of a single server. The server would
// confirm it, and switch JetStream off for the account (error 10076).
func (a *Accounts) fits(ctx context.Context, claims *jwt.AccountClaims) error {
	if claims.Limits.DiskStorage <= 0 {
		return nil
	}
	most, err := a.disk(ctx)
	if err != nil || most <= 0 {
		return err
	}
	listed, err := a.list(ctx)
	if err != nil {
		return err
	}
	others := int64(0)
	for id := range listed {
		if id == claims.Subject {
			continue
		}
		other, err := a.claims(ctx, id)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		others += max(other.Limits.DiskStorage, 0)
	}
	if others+claims.Limits.DiskStorage > most {
		return fault.Errorf(fault.Quota, "cannot give NATS account %q %d bytes on disk: the server has %d (max_file), and its other accounts may use %d of them. "+
			"Lower limits, or raise max_file", claims.Name, claims.Limits.DiskStorage, most, others)
	}
	return nil
}

// forget drops revocations of credentials that have ended by themselves.
func forget(claims *jwt.AccountClaims, now time.Time) {
	maps.DeleteFunc(claims.Revocations, func(user string, at int64) bool {
		return user != jwt.All && now.Sub(time.Unix(at, 0)) > MaxLife
	})
}

// plain returns the scopes of the roles in a form that can be compared.
func plain(keys jwt.SigningKeys) map[string]jwt.Permissions {
	out := map[string]jwt.Permissions{}
	for id, scope := range keys {
		user, ok := scope.(*jwt.UserScope)
		if !ok {
			out[id] = jwt.Permissions{}
			continue
		}
		p := user.Template.Permissions
		for _, list := range []*jwt.StringList{&p.Pub.Allow, &p.Pub.Deny, &p.Sub.Allow, &p.Sub.Deny} {
			*list = slices.Sorted(slices.Values(*list))
		}
		out[id] = p
	}
	return out
}

func limitsOf(c *jwt.AccountClaims) Limits {
	return Limits{
		Connections: max(c.Limits.Conn, 0), DiskBytes: max(c.Limits.DiskStorage, 0), Streams: max(c.Limits.Streams, 0), Consumers: max(c.Limits.Consumer, 0),
	}
}

func issuedAt(account string) time.Time {
	claims, err := jwt.DecodeAccountClaims(account)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(claims.IssuedAt, 0)
}

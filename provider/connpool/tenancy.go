package connpool

import (
	"context"
	"sync"
	"time"

	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

// ensureEvery is how often an account is compared with what it should be while it is in
// use: somebody may have removed it, or restored the servers from a backup.
const ensureEvery = 10 * time.Minute

// operatorAccess identifies the accounts on NATS servers in operator mode.
type operatorAccess struct {
	system  bus.Config // as a user of the system account
	signing natsauth.Seed
	keyring natsauth.Keyring
	servers int
	usual   natsauth.Limits // of accounts without NATSAccount
}

// A tenancy makes the accounts of namespaces, and a user of each for the provider
// itself. It is safe for concurrent use.
type tenancy struct {
	access operatorAccess
	line   *Line

	mu       sync.Mutex // guards the fields below
	accounts *natsauth.Accounts
	members  map[string]member // by namespace
}

// A member is the provider's user in one account.
type member struct {
	account string
	user    natsauth.User
	made    time.Time
	ensured time.Time
}

func newTenancy(a operatorAccess, enqueue func()) *tenancy {
	return &tenancy{access: a, line: newLine(a.system, enqueue), members: map[string]member{}}
}

// open returns the accounts. The first time, it signs those with the operator's signing
// key that an earlier one has signed. Errors: Invalid, those of Line.Connected and of
// natsauth.Accounts.Resign.
func (t *tenancy) open(ctx context.Context) (*natsauth.Accounts, error) {
	b, err := t.line.Connected(ctx)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	known := t.accounts
	t.mu.Unlock()
	if known != nil {
		return known, nil
	}
	accounts, err := natsauth.NewAccounts(b.Conn(), t.access.signing, t.access.keyring, t.access.servers)
	if err != nil {
		return nil, err
	}
	if err := accounts.Resign(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.accounts == nil {
		t.accounts = accounts
	}
	return t.accounts, nil
}

// join makes the account of a namespace unless it exists, and returns the provider's
// user of it. Errors: those of open and of natsauth.Accounts.Ensure.
func (t *tenancy) join(ctx context.Context, namespace string) (member, error) {
	t.mu.Lock()
	m, ok := t.members[namespace]
	t.mu.Unlock()
	if ok && time.Since(m.ensured) < ensureEvery {
		return m, nil
	}
	accounts, err := t.open(ctx)
	if err != nil {
		return member{}, err
	}
	if err := accounts.Ensure(ctx, namespace, t.access.usual); err != nil {
		return member{}, err
	}
	state, err := accounts.State(ctx, namespace)
	if err != nil {
		return member{}, err
	}
	m.account, m.ensured = state.ID, time.Now()
	if !ok || !state.Accepts(m.user.ID, m.made) || m.made.Unix() <= state.Renewed(time.Time{}).Unix() {
		m.made = time.Now()
		if m.user, err = t.access.keyring.User(natsauth.Grant{Namespace: namespace, Owner: "provider", Role: natsauth.Provider}, 0); err != nil {
			return member{}, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.members[namespace] = m
	return m, nil
}

// doubt makes the next join compare the account again: the server refuses its user.
func (t *tenancy) doubt(namespace string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m, ok := t.members[namespace]; ok {
		m.ensured = time.Time{}
		t.members[namespace] = m
	}
}

func (t *tenancy) close() { t.line.close() }

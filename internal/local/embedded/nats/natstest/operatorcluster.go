package natstest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/gorizond/koldun/internal/local/embedded/nats"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

// accountInterval is short, so that a test can wait for a server to catch up.
const accountInterval = time.Second

// An OperatorCluster is a group of NATS servers in operator mode.
type OperatorCluster struct {
	*Cluster

	Authority natsauth.Authority
	// Accounts asks all servers.
	Accounts *natsauth.Accounts
}

// StartOperatorCluster runs n servers in operator mode until the test ends.
func StartOperatorCluster(tb testing.TB, n int) *OperatorCluster {
	tb.Helper()
	authority, err := natsauth.NewAuthority("test")
	if err != nil {
		tb.Fatal(err)
	}
	c := &OperatorCluster{Authority: authority}
	c.Cluster = StartMembers(tb, n, func(_ int, o *server.Options) error {
		return nats.Trust(o, authority, filepath.Join(o.StoreDir, "accounts"), accountInterval)
	})
	if c.Accounts, err = natsauth.NewAccounts(Manager(tb, c.URL(), authority), authority.Signing, Keyring, n); err != nil {
		tb.Fatal(err)
	}
	return c
}

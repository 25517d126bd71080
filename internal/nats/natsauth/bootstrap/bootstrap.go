// Package bootstrap makes, once, what NATS servers in operator mode and their clients
// need: the keys of an operator, the configuration of servers that trust it, and
// certificates for TLS. All of it is in Secrets.
package bootstrap

import (
	"context"

	"github.com/gorizond/koldun/internal/network/certs"
)

// A Plan says whom the Secrets are for.
type Plan struct {
	Name      string // of the Service for clients, with which the names of all Secrets begin
	Namespace string // of the servers
	Domain    string // of the cluster, such as cluster.local
}

// The Secrets, by what follows NAME- in their names.
const (
	Keys     = "keys"     // of the operator, with its main key: everything but certificates follows from it
	Operator = "operator" // what spec.nats.operator.secretRef of a ProviderConfig needs
	Server   = "server"   // configuration of the servers
	CA       = "ca"       // authority of certificates, with its key
	TLS      = "tls"      // certificate of the servers
	Client   = "client"   // what spec.nats.secretRef of a ProviderConfig needs
)

// Secret returns the name of a Secret.
func (p Plan) Secret(of string) string { return p.Name + "-" + of }

// Headless is the name of the Service that gives each server a name.
func (p Plan) Headless() string { return p.Name + "-headless" }

// Ensure makes the Secrets that do not exist, and returns their names. Several processes
// may call it at the same time. Errors: Conflict if a Secret is gone that cannot be made
// again, Corrupt (content of a Secret), those of the Store.
func Ensure(ctx context.Context, s certs.Store, p Plan) (made []string, err error) {
	m := &maker{certs.Maker{Store: s}, p}
	if err := m.operator(ctx); err != nil {
		return m.Made, err
	}
	return m.Made, m.certificates(ctx)
}

type maker struct {
	certs.Maker
	plan Plan
}

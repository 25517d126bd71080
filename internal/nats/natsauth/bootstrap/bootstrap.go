// Package bootstrap makes, once, what NATS servers in operator mode and their clients
// need: the keys of an operator, the configuration of servers that trust it, and
// certificates for TLS. All of it is in Secrets.
//
// A Secret that exists is never changed. Secrets of two levels make this safe at every
// interruption: the first, with keys that nothing can replace, is stored before what
// follows from it.
package bootstrap

import (
	"context"

	"github.com/gorizond/koldun/internal/fault"
)

// A Store keeps Secrets of one namespace.
type Store interface {
	// Get returns the data of a Secret. Errors: NotFound.
	Get(ctx context.Context, name string) (map[string][]byte, error)
	// Create stores a new Secret. Errors: Conflict if it exists.
	Create(ctx context.Context, name string, data map[string][]byte) error
}

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
func Ensure(ctx context.Context, s Store, p Plan) (made []string, err error) {
	m := &maker{store: s, plan: p}
	if err := m.operator(ctx); err != nil {
		return m.made, err
	}
	return m.made, m.certificates(ctx)
}

type maker struct {
	store Store
	plan  Plan
	made  []string
}

// missing returns which Secrets do not exist.
func (m *maker) missing(ctx context.Context, of ...string) ([]string, error) {
	var out []string
	for _, part := range of {
		_, err := m.store.Get(ctx, m.plan.Secret(part))
		switch {
		case fault.Is(err, fault.NotFound):
			out = append(out, part)
		case err != nil:
			return nil, err
		}
	}
	return out, nil
}

// origin returns the Secret that others follow from. It makes it if it does not exist
// and none of the others does.
func (m *maker) origin(ctx context.Context, of string, others, missing []string, content func() (map[string][]byte, error)) (map[string][]byte, error) {
	have, err := m.store.Get(ctx, m.plan.Secret(of))
	if !fault.Is(err, fault.NotFound) {
		return have, err
	}
	if len(missing) < len(others) {
		return nil, fault.Errorf(fault.Conflict, "cannot make Secret %q: it needs Secret %q, which does not exist, though others do that were made from it. "+
			"Restore Secret %q", m.plan.Secret(missing[0]), m.plan.Secret(of), m.plan.Secret(of))
	}
	data, err := content()
	if err != nil {
		return nil, err
	}
	if err := m.create(ctx, of, data); err != nil {
		return nil, err
	}
	return m.store.Get(ctx, m.plan.Secret(of)) // another process may have been faster
}

// create stores a Secret unless it exists.
func (m *maker) create(ctx context.Context, of string, data map[string][]byte) error {
	err := m.store.Create(ctx, m.plan.Secret(of), data)
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	if err == nil {
		m.made = append(m.made, m.plan.Secret(of))
	}
	return err
}

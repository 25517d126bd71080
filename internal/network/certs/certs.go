// Package certs makes, once, the certificates of servers, as Secrets.
//
// A Secret that exists is never changed. Secrets of two levels make this safe at every
// interruption: the first, with keys that nothing can replace, is stored before what
// follows from it.
package certs

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

// Keys of Secrets with certificates, as Kubernetes and cert-manager name them.
const (
	Cert = "tls.crt"
	Key  = "tls.key"
	CA   = "ca.crt"
)

// A Maker makes Secrets that do not exist.
type Maker struct {
	Store Store
	Made  []string // names of those that it has made
}

// Servers are what certificates are for.
type Servers struct {
	Kind      string   // such as NATS, which their subjects name
	Hosts     []string // by which clients, and other servers, reach them
	Authority string   // name of the Secret of the authority, with its key
	TLS       string   // name of the Secret of the servers
}

// Missing returns which Secrets do not exist.
func (m *Maker) Missing(ctx context.Context, names ...string) ([]string, error) {
	var out []string
	for _, name := range names {
		_, err := m.Store.Get(ctx, name)
		switch {
		case fault.Is(err, fault.NotFound):
			out = append(out, name)
		case err != nil:
			return nil, err
		}
	}
	return out, nil
}

// Origin returns the Secret that others follow from. It makes it if it does not exist
// and none of the others does.
func (m *Maker) Origin(ctx context.Context, name string, others, missing []string, content func() (map[string][]byte, error)) (map[string][]byte, error) {
	have, err := m.Store.Get(ctx, name)
	if !fault.Is(err, fault.NotFound) {
		return have, err
	}
	if len(missing) < len(others) {
		return nil, fault.Errorf(fault.Conflict, "cannot make Secret %q: it needs Secret %q, which does not exist, though others do that were made from it. "+
			"Restore Secret %q", missing[0], name, name)
	}
	data, err := content()
	if err != nil {
		return nil, err
	}
	if err := m.Create(ctx, name, data); err != nil {
		return nil, err
	}
	return m.Store.Get(ctx, name) // another process may have been faster
}

// Create stores a Secret unless it exists.
func (m *Maker) Create(ctx context.Context, name string, data map[string][]byte) error {
	err := m.Store.Create(ctx, name, data)
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	if err == nil {
		m.Made = append(m.Made, name)
	}
	return err
}

// Certificate makes a certificate of all servers, and its authority unless that exists. A
// certificate of another issuer, such as cert-manager, counts if its Secret holds its
// authority. It returns the authority. others are made from it, too: without all of them,
// and the certificate, a lost authority is not replaced. Errors: Conflict if the authority is
// gone, Corrupt (content of a Secret), those of the Store.
func (m *Maker) Certificate(ctx context.Context, of Servers, others ...string) (authority []byte, err error) {
	parts := append([]string{of.TLS}, others...)
	missing, err := m.Missing(ctx, parts...)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 && missing[0] == of.TLS {
		if err := m.issue(ctx, of, parts, missing); err != nil {
			return nil, err
		}
	}
	data, err := m.Store.Get(ctx, of.TLS)
	if err != nil {
		return nil, err
	}
	if len(data[CA]) == 0 {
		return nil, fault.Errorf(fault.Corrupt, "cannot use Secret %q: it has no key %s, with which clients check the certificate", of.TLS, CA)
	}
	return data[CA], nil
}

func (m *Maker) issue(ctx context.Context, of Servers, parts, missing []string) error {
	data, err := m.Origin(ctx, of.Authority, parts, missing, func() (map[string][]byte, error) { return newIssuer(of.Kind) })
	if err != nil {
		return err
	}
	by, err := readIssuer(data)
	if err != nil {
		return fault.Errorf(fault.Corrupt, "cannot use Secret %q: %w", of.Authority, err)
	}
	content, err := by.issue(of.Kind, of.Hosts)
	if err != nil {
		return err
	}
	return m.Create(ctx, of.TLS, content)
}

// Hosts returns the names of a Service in a namespace, by which pods of the cluster reach it.
func Hosts(service, namespace, domain string) []string {
	var out []string
	for _, suffix := range []string{"", "." + namespace, "." + namespace + ".svc", "." + namespace + ".svc." + domain} {
		out = append(out, service+suffix)
	}
	return out
}

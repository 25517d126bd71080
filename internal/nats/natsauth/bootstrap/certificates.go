package bootstrap

import (
	"context"

	"github.com/gorizond/koldun/internal/fault"
)

// Keys of Secrets with certificates, as Kubernetes and cert-manager name them.
const (
	keyCert    = "tls.crt"
	keyPrivate = "tls.key"
	keyCA      = "ca.crt"
)

// certificates makes an authority, a certificate of all servers, and what clients need
// to check it. A certificate of another issuer, such as cert-manager, counts if its
// Secret holds its authority.
func (m *maker) certificates(ctx context.Context) error {
	parts := []string{TLS, Client}
	missing, err := m.missing(ctx, parts...)
	if err != nil || len(missing) == 0 {
		return err
	}
	if missing[0] == TLS {
		if err := m.certificate(ctx, parts, missing); err != nil {
			return err
		}
	}
	name := m.plan.Secret(TLS)
	data, err := m.store.Get(ctx, name)
	if err != nil {
		return err
	}
	if len(data[keyCA]) == 0 {
		return fault.Errorf(fault.Corrupt, "cannot use Secret %q: it has no key %s, with which clients check the certificate", name, keyCA)
	}
	return m.create(ctx, Client, map[string][]byte{"url": []byte(m.plan.url()), keyCA: data[keyCA]})
}

func (m *maker) certificate(ctx context.Context, parts, missing []string) error {
	data, err := m.origin(ctx, CA, parts, missing, newIssuer)
	if err != nil {
		return err
	}
	of, err := readIssuer(data)
	if err != nil {
		return fault.Errorf(fault.Corrupt, "cannot use Secret %q: %w", m.plan.Secret(CA), err)
	}
	content, err := of.issue(m.plan.hosts())
	if err != nil {
		return err
	}
	return m.create(ctx, TLS, content)
}

func (p Plan) url() string { return "nats://" + p.Name + "." + p.Namespace + ".svc:4222" }

// hosts are the names by which clients and the other servers reach a server, and that
// of a forwarded port.
func (p Plan) hosts() []string {
	out := []string{"localhost"}
	for _, service := range []string{p.Name, "*." + p.Headless()} {
		for _, suffix := range []string{"", "." + p.Namespace, "." + p.Namespace + ".svc", "." + p.Namespace + ".svc." + p.Domain} {
			out = append(out, service+suffix)
		}
	}
	return out
}

package bootstrap

import (
	"context"

	"github.com/gorizond/koldun/internal/network/certs"
)

// certificates makes an authority, a certificate of all servers, and what clients need
// to check it.
func (m *maker) certificates(ctx context.Context) error {
	client := m.plan.Secret(Client)
	missing, err := m.Missing(ctx, m.plan.Secret(TLS), client)
	if err != nil || len(missing) == 0 {
		return err
	}
	authority, err := m.Certificate(ctx, m.plan.servers(), client)
	if err != nil {
		return err
	}
	return m.Create(ctx, client, map[string][]byte{"url": []byte(m.plan.url()), certs.CA: authority})
}

func (p Plan) url() string { return "nats://" + p.Name + "." + p.Namespace + ".svc:4222" }

// servers are reached by clients and the other servers, and by a forwarded port.
func (p Plan) servers() certs.Servers {
	hosts := append([]string{"localhost"}, certs.Hosts(p.Name, p.Namespace, p.Domain)...)
	return certs.Servers{
		Kind: "NATS", Authority: p.Secret(CA), TLS: p.Secret(TLS),
		Hosts: append(hosts, certs.Hosts("*."+p.Headless(), p.Namespace, p.Domain)...),
	}
}

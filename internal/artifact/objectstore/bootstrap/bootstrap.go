// Package bootstrap makes, once, the credentials of an S3 server and its certificate, as
// Secrets.
package bootstrap

import (
	"bytes"
	"context"
	"crypto/rand"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/network/certs"
)

// A Store keeps Secrets of one namespace.
type Store interface {
	certs.Store
	// Set changes one key of a Secret. Errors: NotFound.
	Set(ctx context.Context, name, key string, value []byte) error
}

// A Plan says whom the Secrets are for.
type Plan struct {
	Name      string // of the Service, with which the names of all Secrets begin
	Namespace string // of the server
	Domain    string // of the cluster, such as cluster.local
}

// Keys of the Secret Credentials, which spec.s3.secretRef of a ProviderConfig needs, beside
// certs.CA.
const (
	AccessKey = "AWS_ACCESS_KEY_ID"
	SecretKey = "AWS_SECRET_ACCESS_KEY"
	// Sessions says which temporary credentials the server accepts: those that are Signed with
	// SecretKey. It is no field of the ProviderConfig, because an upgrade of the chart writes
	// that before the API server knows new fields.
	Sessions = "KOLDUN_S3_SESSIONS"
	Signed   = "signed"
)

// The Secrets, by what follows NAME- in their names.
const (
	Credentials = "credentials" // of the server's account, and the authority of its certificate
	CA          = "ca"          // authority of certificates, with its key
	TLS         = "tls"         // certificate of the server
)

// Secret returns the name of a Secret.
func (p Plan) Secret(of string) string { return p.Name + "-" + of }

// accessKeyLength is that of AWS. Some clients accept no longer ones.
const accessKeyLength = 20

// Ensure makes the Secrets that do not exist, and returns their names. Of those that exist
// it changes what Credentials say of the server: the authority of its certificate, and
// Sessions. An earlier version made them without. Several processes may call it at the same time. Errors: Corrupt
// (a Secret without a key), those of the Store.
func Ensure(ctx context.Context, s Store, p Plan) (made []string, err error) {
	m := certs.Maker{Store: s}
	authority, err := m.Certificate(ctx, certs.Servers{
		Kind: "S3", Authority: p.Secret(CA), TLS: p.Secret(TLS), Hosts: append([]string{"localhost"}, certs.Hosts(p.Name, p.Namespace, p.Domain)...),
	})
	if err != nil {
		return m.Made, err
	}
	name := p.Secret(Credentials)
	data, err := s.Get(ctx, name)
	if fault.Is(err, fault.NotFound) {
		if err = m.Create(ctx, name, newCredentials(authority)); err == nil {
			data, err = s.Get(ctx, name) // another process may have been faster
		}
	}
	if err != nil {
		return m.Made, err
	}
	for _, key := range []string{AccessKey, SecretKey} {
		if len(data[key]) == 0 {
			return m.Made, fault.Errorf(fault.Corrupt, "cannot use Secret %q: it has no key %s", name, key)
		}
	}
	for key, value := range of(authority) {
		if !bytes.Equal(data[key], value) {
			if err := s.Set(ctx, name, key, value); err != nil {
				return m.Made, err
			}
		}
	}
	return m.Made, nil
}

// of is what credentials say of the server.
func of(authority []byte) map[string][]byte {
	return map[string][]byte{certs.CA: authority, Sessions: []byte(Signed)}
}

// newCredentials returns a key of 260 random bits, and its name.
func newCredentials(authority []byte) map[string][]byte {
	out := of(authority)
	out[AccessKey] = []byte(rand.Text()[:accessKeyLength])
	out[SecretKey] = []byte(rand.Text() + rand.Text())
	return out
}

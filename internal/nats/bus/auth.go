package bus

import (
	"crypto/tls"
	"crypto/x509"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/gorizond/koldun/internal/fault"
)

// auth returns the options for the client's credentials, except those of Creds and
// CredsFile, which are a source. Errors: Invalid, without
// secrets.
func (c Config) auth() ([]nats.Option, error) {
	var opts []nats.Option
	if c.User != "" {
		opts = append(opts, nats.UserInfo(c.User, c.Password))
	}
	if c.Token != "" {
		opts = append(opts, nats.Token(c.Token))
	}
	if c.NKeySeed != "" {
		pair, err := nkeys.FromSeed([]byte(c.NKeySeed))
		if err != nil {
			return nil, fault.Errorf(fault.Invalid, "the nkey is not a seed")
		}
		public, err := pair.PublicKey()
		if err != nil {
			return nil, fault.Errorf(fault.Invalid, "the nkey is not a seed")
		}
		opts = append(opts, nats.Nkey(public, pair.Sign))
	}
	secure, err := c.tls()
	if err != nil || secure == nil {
		return opts, err
	}
	return append(opts, nats.Secure(secure)), nil
}

// tls returns the TLS configuration, or nil if none is given: then the server
// decides.
func (c Config) tls() (*tls.Config, error) {
	if c.CA == "" && c.Cert == "" && c.Key == "" {
		return nil, nil
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CA != "" {
		out.RootCAs = x509.NewCertPool()
		if !out.RootCAs.AppendCertsFromPEM([]byte(c.CA)) {
			return nil, fault.Errorf(fault.Invalid, "the authority holds no certificate")
		}
	}
	if c.Cert != "" || c.Key != "" {
		pair, err := tls.X509KeyPair([]byte(c.Cert), []byte(c.Key))
		if err != nil {
			return nil, fault.Errorf(fault.Invalid, "the client's certificate and key cannot be used: %w", err)
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}

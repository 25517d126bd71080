package connpool_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/gorizond/koldun/test/waittest"
)

// serve runs a NATS server with JetStream and the users of the options until the
// test ends, and returns its address.
func serve(t *testing.T, o server.Options) string {
	t.Helper()
	o.Host, o.Port, o.JetStream, o.StoreDir, o.NoSigs, o.NoLog = "127.0.0.1", server.RANDOM_PORT, true, t.TempDir(), true, true
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(waittest.Patience) {
		t.Fatal("the NATS server takes no clients")
	}
	return s.Addr().String()
}

// A key is a pair of NATS keys.
type key struct {
	pair         nkeys.KeyPair
	public, seed string
}

func newKey(t *testing.T, create func() (nkeys.KeyPair, error)) key {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	return key{pair, public, string(seed)}
}

// A domain is an operator with one account that signs users.
type domain struct {
	account key
	options server.Options
}

// newDomain returns a domain with an in-memory account resolver.
func newDomain(t *testing.T) domain {
	t.Helper()
	operator := newKey(t, nkeys.CreateOperator)
	claims := jwt.NewOperatorClaims(operator.public)
	resolver := &server.MemAccResolver{}
	add := func(jetStream bool) key {
		account := newKey(t, nkeys.CreateAccount)
		c := jwt.NewAccountClaims(account.public)
		if jetStream {
			c.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
		}
		text, err := c.Encode(operator.pair)
		if err != nil {
			t.Fatal(err)
		}
		if err := resolver.Store(account.public, text); err != nil {
			t.Fatal(err)
		}
		return account
	}
	system, account := add(false), add(true)
	return domain{account: account, options: server.Options{
		TrustedOperators: []*jwt.OperatorClaims{claims}, AccountResolver: resolver, SystemAccount: system.public,
	}}
}

// user returns the JWT and the key of a new user.
func (d domain) user(t *testing.T) (text string, user key) {
	t.Helper()
	user = newKey(t, nkeys.CreateUser)
	text, err := jwt.NewUserClaims(user.public).Encode(d.account.pair)
	if err != nil {
		t.Fatal(err)
	}
	return text, user
}

// creds returns the contents of a credentials file, as nsc writes it.
func creds(t *testing.T, text string, user key) string {
	t.Helper()
	out, err := jwt.FormatUserConfig(text, []byte(user.seed))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// An authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	a := authority{}
	a.cert = &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.pem, a.key = a.issue(t, a.cert)
	return a
}

// pair returns a certificate for 127.0.0.1, for clients and servers, and its key.
func (a authority) pair(t *testing.T) (cert, private string) {
	t.Helper()
	text, k := a.issue(t, &x509.Certificate{
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	raw, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return text, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}))
}

func (a authority) issue(t *testing.T, c *x509.Certificate) (text string, k *ecdsa.PrivateKey) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: t.Name()}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
	parent, signer := a.cert, a.key
	if signer == nil {
		signer = k
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, parent, &k.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})), k
}

// both returns the options of a server with a certificate that requires one of its
// clients.
func (a authority) both(t *testing.T) server.Options {
	t.Helper()
	cert, private := a.pair(t)
	pair, err := tls.X509KeyPair([]byte(cert), []byte(private))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(a.pem))
	return server.Options{TLS: true, TLSVerify: true, TLSTimeout: 60, TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
	}}
}

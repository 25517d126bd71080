package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// validity of the authority and of the certificates that it signs: not all servers read
// certificates again by themselves, so a short life would end in an outage.
const validity = 10 * 365 * 24 * time.Hour

// clockSkew is how far clocks may differ.
const clockSkew = 5 * time.Minute

// An issuer signs certificates.
type issuer struct {
	cert *x509.Certificate
	key  crypto.Signer
	pem  []byte
}

// newIssuer makes an issuer that trusts itself, and returns its Secret.
func newIssuer(servers string) (map[string][]byte, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: servers + " servers"}, IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	return sign(template, nil)
}

// readIssuer reads the Secret of an issuer.
func readIssuer(data map[string][]byte) (issuer, error) {
	pair, err := tls.X509KeyPair(data[Cert], data[Key])
	if err != nil {
		return issuer{}, err
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || !pair.Leaf.IsCA {
		return issuer{}, errors.New("its certificate is not that of an authority")
	}
	return issuer{pair.Leaf, key, data[Cert]}, nil
}

// issue returns the Secret of a certificate for servers, which are clients of each
// other.
func (i issuer) issue(servers string, hosts []string) (map[string][]byte, error) {
	out, err := sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: servers + " server"}, DNSNames: hosts, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, &i)
	if err == nil {
		out[CA] = i.pem
	}
	return out, err
}

// sign makes a key and its certificate, signed by itself without an issuer.
func sign(template *x509.Certificate, by *issuer) (map[string][]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fault.Errorf(fault.Internal, "cannot make a key: %w", err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, fault.Errorf(fault.Internal, "cannot make a serial number: %w", err)
	}
	now := time.Now()
	template.NotBefore, template.NotAfter = now.Add(-clockSkew), now.Add(validity)
	parent, signer := template, crypto.Signer(key)
	if by != nil {
		parent, signer = by.cert, by.key
		template.NotAfter = by.cert.NotAfter
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, fault.Errorf(fault.Internal, "cannot sign a certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fault.Errorf(fault.Internal, "cannot encode a key: %w", err)
	}
	return map[string][]byte{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}, nil
}

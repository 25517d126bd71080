package cluster

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Names of the files and Secret keys of a certificate.
const (
	tlsCert = "tls.crt"
	tlsKey  = "tls.key"
	caCert  = "ca.crt"
)

// validity of certificates. A cluster runs for one test run only.
const validity = 48 * time.Hour

// An authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
	pem  []byte // of cert
}

// newAuthority makes a self-signed authority.
func newAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("cannot make key: %w", err)
	}
	template, err := certificate(name)
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("cannot sign certificate %q: %w", name, err)
	}
	return loadAuthority(pemBlock("CERTIFICATE", der), key)
}

// parseAuthority reads an authority from a certificate and its key, both PEM;
// the key as PKCS #1 or PKCS #8.
func parseAuthority(certPEM, keyPEM []byte) (*authority, error) {
	block, _ := pem.Decode(keyPEM)
	if block == nil {
		return nil, errors.New("cannot decode key of certificate authority: it is not PEM")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return loadAuthority(certPEM, key)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("cannot parse key of certificate authority: %w", err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("cannot sign with key of type %T", key)
	}
	return loadAuthority(certPEM, signer)
}

func loadAuthority(certPEM []byte, key crypto.Signer) (*authority, error) {
	block, _ := pem.Decode(certPEM)
	if block == nil {
		return nil, errors.New("cannot decode certificate authority: it is not PEM")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("cannot parse certificate authority: %w", err)
	}
	return &authority{cert: cert, key: key, pem: certPEM}, nil
}

// Certificate returns a new certificate for a server with the given DNS names and addresses,
// its key, and the certificate of the authority that signed it, as PEM.
func Certificate(names ...string) (certPEM, keyPEM, authorityPEM []byte, err error) {
	a, err := newAuthority("tests")
	if err != nil {
		return nil, nil, nil, err
	}
	certPEM, keyPEM, err = a.server(names...)
	return certPEM, keyPEM, a.pem, err
}

// server signs a certificate for a server on loopback with the given DNS names and
// addresses.
func (a *authority) server(names ...string) (certPEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make key: %w", err)
	}
	template, err := certificate("server")
	if err != nil {
		return nil, nil, err
	}
	template.DNSNames, template.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	for _, name := range names {
		if address := net.ParseIP(name); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot sign certificate: %w", err)
	}
	keyPEM, err = keyBlock(key)
	return pemBlock("CERTIFICATE", der), keyPEM, err
}

func certificate(name string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("cannot make serial number: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Minute),
		NotAfter:     now.Add(validity),
	}, nil
}

func keyBlock(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("cannot encode key: %w", err)
	}
	return pemBlock("PRIVATE KEY", der), nil
}

func pemBlock(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// writeFiles writes files to a folder, which only its owner can read if it is new.
func writeFiles(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

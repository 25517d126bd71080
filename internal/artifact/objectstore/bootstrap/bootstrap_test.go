package bootstrap_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/objectstore/bootstrap"
	"github.com/gorizond/koldun/internal/fault"
)

var plan = bootstrap.Plan{Name: "s3", Namespace: "platform", Domain: "cluster.local"}

// secrets is a Store in memory.
type secrets struct {
	mu   sync.Mutex
	data map[string]map[string][]byte
	err  error // of Create
}

func newSecrets() *secrets { return &secrets{data: map[string]map[string][]byte{}} }

func (s *secrets) Get(_ context.Context, name string) (map[string][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok := s.data[name]; ok {
		return maps.Clone(d), nil
	}
	return nil, fault.Errorf(fault.NotFound, "there is no Secret %q", name)
}

func (s *secrets) Create(_ context.Context, name string, data map[string][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data[name] != nil {
		return fault.Errorf(fault.Conflict, "Secret %q exists", name)
	}
	if s.err == nil {
		s.data[name] = data
	}
	return s.err
}

func (s *secrets) Set(_ context.Context, name, key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data[name][key] = value
	return nil
}

// TestMadeOnce runs several processes, which make three Secrets that belong together.
func TestMadeOnce(t *testing.T) {
	s := newSecrets()
	var wg sync.WaitGroup
	made := make(chan []string, 4)
	for range cap(made) {
		wg.Go(func() {
			did, err := bootstrap.Ensure(t.Context(), s, plan)
			if err != nil {
				t.Error(err)
			}
			made <- did
		})
	}
	wg.Wait()
	close(made)
	count := 0
	for did := range made {
		count += len(did)
	}
	data := s.data["s3-credentials"]
	if count != 3 || len(s.data) != 3 || len(data[bootstrap.AccessKey]) != 20 || len(data[bootstrap.SecretKey]) < 40 {
		t.Errorf("%d Secrets were made, with keys of %d and %d bytes", count, len(data[bootstrap.AccessKey]), len(data[bootstrap.SecretKey]))
	}
	verify(t, s)
	other := newSecrets()
	if _, err := bootstrap.Ensure(t.Context(), other, plan); err != nil || string(other.data["s3-credentials"][bootstrap.SecretKey]) == string(data[bootstrap.SecretKey]) {
		t.Errorf("two clusters have the same credentials (%v)", err)
	}
}

// verify checks the certificate as clients with the credentials do.
func verify(t *testing.T, s *secrets) {
	t.Helper()
	pair, err := tls.X509KeyPair(s.data["s3-tls"]["tls.crt"], s.data["s3-tls"]["tls.key"])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(s.data["s3-credentials"]["ca.crt"]) {
		t.Fatal("clients get no authority")
	}
	for _, host := range []string{"s3", "s3.platform.svc", "s3.platform.svc.cluster.local", "localhost"} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: "s3.other.svc", Roots: roots}); err == nil {
		t.Error("the certificate is valid in other namespaces")
	}
	if s.data["s3-credentials"]["tls.key"] != nil {
		t.Error("clients get a key of the server")
	}
}

// TestUpgrade has the Secret of a version that had no certificate. Its keys stay.
func TestUpgrade(t *testing.T) {
	s := newSecrets()
	s.data["s3-credentials"] = map[string][]byte{bootstrap.AccessKey: []byte("kept"), bootstrap.SecretKey: []byte("kept, too")}
	for range 2 {
		if _, err := bootstrap.Ensure(t.Context(), s, plan); err != nil {
			t.Fatal(err)
		}
	}
	if d := s.data["s3-credentials"]; string(d[bootstrap.AccessKey]) != "kept" || string(d[bootstrap.SecretKey]) != "kept, too" || len(d) != 4 || string(d[bootstrap.Sessions]) != bootstrap.Signed {
		t.Errorf("the upgrade changed the credentials to %d keys", len(d))
	}
	verify(t, s)
}

// TestRenewal removes the certificate, and then its authority as well.
func TestRenewal(t *testing.T) {
	s := newSecrets()
	if _, err := bootstrap.Ensure(t.Context(), s, plan); err != nil {
		t.Fatal(err)
	}
	for _, lost := range [][]string{{"s3-tls"}, {"s3-tls", "s3-ca"}} {
		old, key := s.data["s3-tls"]["tls.crt"], string(s.data["s3-credentials"][bootstrap.SecretKey])
		for _, name := range lost {
			delete(s.data, name)
		}
		if made, err := bootstrap.Ensure(t.Context(), s, plan); err != nil || len(made) != len(lost) {
			t.Errorf("without %v it makes %v: %v", lost, made, err)
		}
		if bytes.Equal(s.data["s3-tls"]["tls.crt"], old) || string(s.data["s3-credentials"][bootstrap.SecretKey]) != key {
			t.Errorf("without %v the certificate stays, or the credentials change", lost)
		}
		verify(t, s)
	}
}

// TestRefused has a Secret of another origin, and a Store that refuses.
func TestRefused(t *testing.T) {
	s := newSecrets()
	s.data["s3-credentials"] = map[string][]byte{bootstrap.AccessKey: []byte("SOSECRET")}
	_, err := bootstrap.Ensure(t.Context(), s, plan)
	if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), bootstrap.SecretKey) || strings.Contains(err.Error(), "SOSECRET") {
		t.Errorf("a Secret without a key: %v", err)
	}
	s = newSecrets()
	s.err = fault.Errorf(fault.Denied, "no")
	if made, err := bootstrap.Ensure(t.Context(), s, plan); len(made) > 0 || !fault.Is(err, fault.Denied) {
		t.Errorf("a Store that refuses: %v, %v", made, err)
	}
}

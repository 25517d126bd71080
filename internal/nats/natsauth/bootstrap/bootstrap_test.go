package bootstrap_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/jwt/v2"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/internal/nats/natsauth/bootstrap"
)

// secrets is a Store in memory.
type secrets struct {
	mu   sync.Mutex
	data map[string]map[string][]byte
	left int // calls of Create before one fails; negative: none fails
}

var errInterrupted = errors.New("interrupted")

func newSecrets() *secrets { return &secrets{data: map[string]map[string][]byte{}, left: -1} }

func (s *secrets) Get(_ context.Context, name string) (map[string][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.data[name]
	if !ok {
		return nil, fault.Errorf(fault.NotFound, "there is no Secret %q", name)
	}
	return d, nil
}

func (s *secrets) Create(_ context.Context, name string, data map[string][]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.data[name]; ok {
		return fault.Errorf(fault.Conflict, "Secret %q exists", name)
	}
	if s.left == 0 {
		return errInterrupted
	}
	s.left--
	s.data[name] = data
	return nil
}

var plan = bootstrap.Plan{Name: "nats", Namespace: "platform", Domain: "cluster.local"}

func all() []string {
	return []string{"nats-ca", "nats-client", "nats-keys", "nats-operator", "nats-server", "nats-tls"}
}

func ensure(t *testing.T, s *secrets) []string {
	t.Helper()
	made, err := bootstrap.Ensure(t.Context(), s, plan)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(made)
	return made
}

// check checks that the Secrets belong together.
func check(t *testing.T, s *secrets) {
	t.Helper()
	if have := slices.Sorted(maps.Keys(s.data)); !slices.Equal(have, all()) {
		t.Fatalf("there are %v, want %v", have, all())
	}
	operator, conf := s.data["nats-operator"], string(s.data["nats-server"][bootstrap.OperatorConf])
	token := strings.Fields(conf)[1]
	claims, err := jwt.DecodeOperatorClaims(token)
	if err != nil {
		t.Fatal(err)
	}
	// The configuration trusts the key that signs accounts, and only it.
	account, err := natsauth.NewAccount()
	if err != nil {
		t.Fatal(err)
	}
	signed, err := account.JWT(natsauth.Seed(operator["operator.nk"]), "team", natsauth.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	of, err := jwt.DecodeAccountClaims(signed)
	if err != nil || !claims.StrictSigningKeyUsage || !claims.DidSign(of) {
		t.Errorf("the servers do not trust the key of the provider (%v)", err)
	}
	life, ok := natsauth.LifeOf(string(operator["system.creds"]))
	if !ok || life.Account != claims.SystemAccount || !strings.Contains(conf, "system_account: "+life.Account) {
		t.Errorf("the user of the provider is not of the system account of the servers")
	}
	if err := natsauth.Keyring(operator["accounts.key"]).Check(); err != nil {
		t.Error(err)
	}
	for name, key := range map[string]string{"nats-operator": "main.nk", "nats-server": "main.nk", "nats-client": "tls.key"} {
		if s.data[name][key] != nil {
			t.Errorf("Secret %q holds %s", name, key)
		}
	}
	for name, data := range s.data {
		if name != "nats-keys" && bytes.Contains(bytes.Join(slices.Collect(maps.Values(data)), nil), s.data["nats-keys"]["main.nk"]) {
			t.Errorf("Secret %q holds the main key of the operator", name)
		}
	}
	verify(t, s)
}

// verify checks the certificate as clients and servers do.
func verify(t *testing.T, s *secrets) {
	t.Helper()
	pair, err := tls.X509KeyPair(s.data["nats-tls"]["tls.crt"], s.data["nats-tls"]["tls.key"])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(s.data["nats-client"]["ca.crt"]) {
		t.Fatal("clients get no authority")
	}
	for _, host := range []string{
		"nats", "nats.platform.svc", "nats.platform.svc.cluster.local",
		"nats-0.nats-headless", "nats-2.nats-headless.platform.svc", "nats-1.nats-headless.platform.svc.cluster.local", "localhost",
	} {
		for _, use := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
			if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, KeyUsages: []x509.ExtKeyUsage{use}}); err != nil {
				t.Errorf("%s: %v", host, err)
			}
		}
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: "nats.other.svc", Roots: roots}); err == nil {
		t.Error("the certificate is valid in other namespaces")
	}
}

// TestMadeOnce runs again, which changes nothing.
func TestMadeOnce(t *testing.T) {
	s := newSecrets()
	if made := ensure(t, s); !slices.Equal(made, all()) {
		t.Errorf("it says that it made %v", made)
	}
	check(t, s)
	before := maps.Clone(s.data)
	if made := ensure(t, s); len(made) != 0 || !maps.EqualFunc(before, s.data, sameData) {
		t.Errorf("the second run made %v", made)
	}
}

func sameData(a, b map[string][]byte) bool { return maps.EqualFunc(a, b, bytes.Equal) }

// TestInterrupted fails at each Secret, and runs again.
func TestInterrupted(t *testing.T) {
	for n := range all() {
		s := newSecrets()
		s.left = n
		if _, err := bootstrap.Ensure(t.Context(), s, plan); !errors.Is(err, errInterrupted) {
			t.Fatalf("Secret %d: %v", n, err)
		}
		s.left = -1
		ensure(t, s)
		check(t, s)
	}
}

// TestAtTheSameTime runs several processes.
func TestAtTheSameTime(t *testing.T) {
	s := newSecrets()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := bootstrap.Ensure(t.Context(), s, plan); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	check(t, s)
}

// TestKeysTakenAway moves to another place what the servers do not need.
func TestKeysTakenAway(t *testing.T) {
	s := newSecrets()
	ensure(t, s)
	keys, ca := s.data["nats-keys"], s.data["nats-ca"]
	delete(s.data, "nats-keys")
	delete(s.data, "nats-ca")
	if made := ensure(t, s); len(made) != 0 {
		t.Errorf("without what all others were made from, it makes %v", made)
	}
	for lost, origin := range map[string]string{"nats-operator": "nats-keys", "nats-server": "nats-keys", "nats-tls": "nats-ca"} {
		saved := s.data[lost]
		delete(s.data, lost)
		_, err := bootstrap.Ensure(t.Context(), s, plan)
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), `Restore Secret "`+origin+`"`) || s.data[lost] != nil {
			t.Errorf("without Secret %q: %v", lost, err)
		}
		s.data[lost] = saved
	}
	s.data["nats-keys"], s.data["nats-ca"] = keys, ca
	delete(s.data, "nats-operator")
	delete(s.data, "nats-tls") // as for another certificate
	if made := ensure(t, s); !slices.Equal(made, []string{"nats-operator", "nats-tls"}) {
		t.Errorf("it made %v", made)
	}
	check(t, s)
}

// TestOtherIssuer finds a certificate that cert-manager has made.
func TestOtherIssuer(t *testing.T) {
	other, s := newSecrets(), newSecrets()
	ensure(t, other)
	s.data["nats-tls"] = other.data["nats-tls"]
	if made := ensure(t, s); slices.Contains(made, "nats-ca") {
		t.Errorf("it made %v, an authority without use", made)
	}
	verify(t, s)
	delete(s.data, "nats-client")
	s.data["nats-tls"] = map[string][]byte{"tls.crt": nil}
	if _, err := bootstrap.Ensure(t.Context(), s, plan); !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), "ca.crt") {
		t.Errorf("a certificate without its authority: %v", err)
	}
}

// TestBrokenSecrets has Secrets of another origin.
func TestBrokenSecrets(t *testing.T) {
	for _, name := range []string{"nats-keys", "nats-ca"} {
		s := newSecrets()
		s.data[name] = map[string][]byte{"main.nk": []byte("SOSECRET"), "tls.key": []byte("SOSECRET")}
		_, err := bootstrap.Ensure(t.Context(), s, plan)
		if !fault.Is(err, fault.Corrupt) || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "SOSECRET") {
			t.Errorf("%s: %v, want an error of kind Corrupt without the secret", name, err)
		}
	}
}

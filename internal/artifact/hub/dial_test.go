package hub

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
)

// TestAddressesOfHubs checks each kind of address that leads into a network.
func TestAddressesOfHubs(t *testing.T) {
	for address, want := range map[string]struct{ open, publicOnly bool }{
		"8.8.8.8:443":                 {true, true},
		"[2606:4700::1111]:443":       {true, true},
		"127.0.0.1:80":                {true, false},
		"[::1]:80":                    {true, false},
		"[::ffff:127.0.0.1]:80":       {true, false},
		"10.0.0.1:80":                 {true, false},
		"172.16.0.1:80":               {true, false},
		"192.168.1.1:80":              {true, false},
		"100.64.0.1:80":               {true, false},
		"[fd00:ec2::1]:80":            {true, false},
		"[fd00:ec2::254]:80":          {false, false},
		"168.63.129.16:80":            {false, false},
		"100.100.100.200:80":          {false, false},
		"[64:ff9b::10.0.0.1]:80":      {true, false},
		"[2002:7f00:1::]:80":          {true, false},
		"169.254.169.254:80":          {false, false},
		"[::ffff:169.254.169.254]:80": {false, false},
		"[fe80::1%eth0]:80":           {false, false},
		"0.0.0.0:80":                  {false, false},
		"224.0.0.1:80":                {false, false},
		"no address":                  {false, false},
	} {
		if err := (dialer{}).check(address, false); (err == nil) != want.open {
			t.Errorf("%s: %v, want it allowed: %v", address, err, want.open)
		}
		if err := (dialer{publicOnly: true}).check(address, true); (err == nil) != want.open {
			t.Errorf("%s, trusted: %v, want it allowed: %v", address, err, want.open)
		}
		if err := (dialer{publicOnly: true}).check(address, false); (err == nil) != want.publicOnly {
			t.Errorf("%s, public only: %v, want it allowed: %v", address, err, want.publicOnly)
		}
	}
}

// TestRedirectsStayOutside has a hub redirect to a server of the private network.
func TestRedirectsStayOutside(t *testing.T) {
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("SECRET")) }))
	defer inside.Close()
	evil := httptest.NewServer(http.RedirectHandler(inside.URL+"/metadata", http.StatusFound))
	defer evil.Close()
	read := func(cfg Config) error {
		cfg.Attempts = 1
		c, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.ReadFile(t.Context(), "org/repo", strings.Repeat("a", 40), "config.json", 100)
		return err
	}
	refused := func(what string, err error) {
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "allowPrivateAddresses") {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("a redirect of a trusted hub", read(Config{Endpoint: evil.URL, Reach: Reach{PublicOnly: true, Trusted: []string{evil.URL}}}))
	refused("a hub", read(Config{Endpoint: inside.URL, Reach: Reach{PublicOnly: true, Trusted: []string{evil.URL, ""}}}))
	refused("a hub by its name", read(Config{Endpoint: strings.Replace(inside.URL, "127.0.0.1", "localhost", 1), Reach: Reach{PublicOnly: true}}))
	if err := read(Config{Endpoint: evil.URL}); err != nil {
		t.Errorf("without the rule: %v", err)
	}
	if err := read(Config{Endpoint: evil.URL, Reach: Reach{PublicOnly: true, Trusted: []string{evil.URL, inside.URL}}}); err != nil {
		t.Errorf("trusted: %v", err)
	}
}

// TestTrustedHubsAreNotMetadata names the metadata service of a cloud as a trusted hub.
func TestTrustedHubsAreNotMetadata(t *testing.T) {
	for _, endpoint := range []string{"http://169.254.169.254", "http://[fe80::1]", "http://0.0.0.0:80"} {
		c, err := New(Config{Endpoint: endpoint, Reach: Reach{PublicOnly: true, Trusted: []string{endpoint}}, Attempts: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = c.Resolve(t.Context(), "org/repo", "main"); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "which no server may have") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

// TestReachReadsItsText tests that what a provider writes is what a workload reads, and that
// a text which it does not know opens nothing.
func TestReachReadsItsText(t *testing.T) {
	for _, want := range []Reach{{}, {PublicOnly: true}, {PublicOnly: true, Trusted: []string{"http://hub.svc:8080", "https://a/b"}}} {
		if got := ParseReach(want.String()); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", want, got, want)
		}
	}
	for text, want := range map[string]Reach{"": {}, "any": {}, "none": {PublicOnly: true}, "any http://127.0.0.1": {PublicOnly: true}, "ANY": {PublicOnly: true}} {
		if got := ParseReach(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v", text, got, want)
		}
	}
}

package hub

import (
	"net/http"
	"net/http/httptest"
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
		"[fd00:ec2::254]:80":          {true, false},
		"[64:ff9b::10.0.0.1]:80":      {true, false},
		"[2002:7f00:1::]:80":          {true, false},
		"169.254.169.254:80":          {false, false},
		"[::ffff:169.254.169.254]:80": {false, false},
		"[fe80::1%eth0]:80":           {false, false},
		"0.0.0.0:80":                  {false, false},
		"224.0.0.1:80":                {false, false},
		"no address":                  {false, false},
	} {
		if err := (dialer{}).check(address); (err == nil) != want.open {
			t.Errorf("%s: %v, want it allowed: %v", address, err, want.open)
		}
		if err := (dialer{publicOnly: true}).check(address); (err == nil) != want.publicOnly {
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
	refused("a redirect of a trusted hub", read(Config{Endpoint: evil.URL, PublicOnly: true, Trusted: []string{evil.URL}}))
	refused("a hub", read(Config{Endpoint: inside.URL, PublicOnly: true, Trusted: []string{evil.URL, ""}}))
	refused("a hub by its name", read(Config{Endpoint: strings.Replace(inside.URL, "127.0.0.1", "localhost", 1), PublicOnly: true}))
	if err := read(Config{Endpoint: evil.URL}); err != nil {
		t.Errorf("without the rule: %v", err)
	}
	if err := read(Config{Endpoint: evil.URL, PublicOnly: true, Trusted: []string{evil.URL, inside.URL}}); err != nil {
		t.Errorf("trusted: %v", err)
	}
}

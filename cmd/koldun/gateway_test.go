package main

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/gateway"
	"github.com/gorizond/koldun/internal/serving/registry"
)

func gatewayConfig(t *testing.T, args ...string) (gateway.Config, error) {
	t.Helper()
	var c GatewayCmd
	p, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Parse(args); err != nil {
		t.Fatal(err)
	}
	return c.config(slog.New(slog.DiscardHandler))
}

// TestGatewayFlags parses the flags that the functions compose, and checks the
// defaults that the functions omit.
func TestGatewayFlags(t *testing.T) {
	t.Setenv(names.EnvNATSURL, "nats://127.0.0.1:4222")
	t.Setenv(envHashSecret, "base64:c2VjcmV0")
	got, err := gatewayConfig(t)
	if err != nil {
		t.Fatal(err)
	}
	if got.ResponsesTTL != 0 || got.ResponsesMaxBytes != names.ResponsesMaxBytes {
		t.Errorf("responses are stored for %v, %d bytes of them", got.ResponsesTTL, got.ResponsesMaxBytes)
	}
	if got.Isolation != gateway.IsolateModel || got.MaxSessions != 8 || got.DemandTTL != 10*time.Minute || got.StrictParameters || string(got.HashKey) != "secret" {
		t.Errorf("got defaults %+v", got)
	}
	got, err = gatewayConfig(t, "--isolation=token", "--max-sessions=3", "--demand-ttl=5m0s", "--request-timeout=3m0s", "--strict-parameters", "--requests-per-minute=1",
		"--tokens-per-minute=2", "--concurrent-requests=4", "--max-per-session=5", "--max-per-tenant=6", "--cors-origin=https://a.example,https://b.example", "--namespace=team", "--namespaces=shared,more")
	if err != nil {
		t.Fatal(err)
	}
	if got.Isolation != gateway.IsolateToken || got.MaxSessions != 3 || got.DemandTTL != 5*time.Minute || got.RequestTimeout != 3*time.Minute || !got.StrictParameters ||
		got.Limits != (registry.Limits{RequestsPerMinute: 1, TokensPerMinute: 2, ConcurrentRequests: 4}) ||
		got.MaxPerSession != 5 || got.MaxPerTenant != 6 || len(got.Origins) != 2 ||
		got.Namespace != "team" || !slices.Equal(got.Namespaces, []string{"shared", "more"}) {
		t.Errorf("got %+v", got)
	}
	t.Setenv("KOLDUN_ALLOWED_HOSTS", "localhost,ai.example") // as koldun up sets it
	if got, err = gatewayConfig(t); err != nil || !slices.Equal(got.Hosts, []string{"localhost", "ai.example"}) {
		t.Errorf("hosts = %q, %v", got.Hosts, err)
	}
	t.Setenv(envHashSecret, "base64:%%%")
	if _, err := gatewayConfig(t); !fault.Is(err, fault.Invalid) {
		t.Errorf("err = %v", err)
	}
}

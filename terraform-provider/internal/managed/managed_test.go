package managed_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/terraform-provider/internal/provider"
	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
	"github.com/gorizond/koldun/test/cluster"
)

var shared = cluster.Shared{Options: cluster.Options{ControlPlaneOnly: true}} //nolint:gochecknoglobals // one cluster for all tests

func TestMain(m *testing.M) {
	status := s3test.Run(m)
	shared.Stop()
	os.Exit(status)
}

// A world is a provider with its own NATS server and object store.
type world struct {
	*providertest.Provider
	nats *natstest.Server
	s3   *s3test.Bucket
	bus  *bus.Bus
}

func start(t testing.TB, more map[string]any) *world {
	t.Helper()
	w := &world{nats: natstest.Start(t), s3: s3test.New(t)}
	p := provider.New("test", func(string) string { return "" })
	t.Cleanup(p.Close)
	config := map[string]any{
		"nats": map[string]any{"url": w.nats.URL(), "user": natstest.User, "password": natstest.Password},
		"s3":   map[string]any{"endpoint": w.s3.Config.Endpoint, "region": w.s3.Config.Region, "access_key": w.s3.Config.AccessKey, "secret_key": w.s3.Config.SecretKey},
	}
	for k, v := range more {
		config[k] = v
	}
	w.Provider = providertest.New(t, p, config)
	b, err := bus.Connect(t.Context(), bus.Config{URL: w.nats.URL(), User: natstest.User, Password: natstest.Password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	w.bus = b
	return w
}

func text(v any) string { return fmt.Sprint(v) }

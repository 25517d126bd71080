package e2e_test

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/hub/hubserver"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/cluster/node"
)

// The gateway of objects is a process of its own.
func TestMain(m *testing.M) { s3test.Main(m) }

// An outside is what a platform has beside its clusters: NATS, an object store
// and a hub. All serve until the test ends.
type outside struct {
	nats *natstest.Server
	s3   *s3test.Gateway
	hub  string
	bus  *bus.Bus // a connection of the test's own
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{nats: natstest.Start(t), s3: s3test.Start(t, t.TempDir(), "")}
	hub, err := hubserver.New(hubserver.Config{Dir: repository + "/examples/models"})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(hub)
	t.Cleanup(func() {
		server.Close()
		_ = hub.Close()
	})
	o.hub = server.URL
	if o.bus, err = bus.Connect(t.Context(), bus.Config{
		URL: o.nats.URL(), User: natstest.User, Password: natstest.Password, Name: "test", Logger: slog.New(slog.DiscardHandler),
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.bus.Close)
	return o
}

// connection is what a platform team applies once.
func (o *outside) connection() string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Secret
metadata: {name: outside, namespace: default}
stringData: {user: %q, password: %q, AWS_ACCESS_KEY_ID: %q, AWS_SECRET_ACCESS_KEY: %q}
---
apiVersion: koldun.m.gorizond.io/v1alpha1
kind: ClusterProviderConfig
metadata: {name: default}
spec:
  nats: {url: %q, secretRef: {namespace: default, name: outside}}
  s3: {endpoint: %q, secretRef: {namespace: default, name: outside}}
  hub: {endpoint: %q}
`, natstest.User, natstest.Password, s3test.AccessKey, s3test.SecretKey, o.nats.URL(), o.s3.Endpoint, o.hub)
}

// providers are two, of which one leads.
const providers = 2

// run starts what Crossplane and Kubernetes run in a cluster: the providers,
// with the rights of their package and no others, and a node.
func (p *proof) run(t *testing.T) {
	t.Helper()
	p.outside = newOutside(t)
	for i := range providers {
		// Kubernetes starts a pod again that ends; these do not.
		process, err := p.Run(fmt.Sprintf("koldun-provider-%d", i), p.programs.provider,
			[]string{"KUBECONFIG=" + p.providerIdentity, "POD_NAMESPACE=crossplane-system"}, "--metrics=0", "--health=")
		if err != nil {
			t.Fatal(err)
		}
		p.providers = append(p.providers, process)
	}
	p.node = node.Start(t, p.Config(), node.Options{
		Image: image, Binary: p.programs.koldun,
		Env: []string{"KOLDUN_LISTEN_HOST=127.0.0.1", names.EnvHFEndpoint + "=" + p.outside.hub},
	})
	if err := p.Apply(t.Context(), p.outside.connection()); err != nil {
		t.Fatal(err)
	}
}

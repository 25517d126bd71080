package e2e_test

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/hub/hubserver"
	"github.com/gorizond/koldun/test/cluster/node"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// services are the servers outside the clusters: NATS, an object store and a hub. They
// run until the test ends.
type services struct {
	nats *natstest.Server
	s3   *s3test.Gateway
	hub  string
	bus  *bus.Bus // connection of the test
}

func newServices(t *testing.T) *services {
	t.Helper()
	o := &services{nats: natstest.Start(t), s3: s3test.Start(t, t.TempDir(), "")}
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
	if o.bus, err = bus.Connect(t.Context(), o.config()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.bus.Close)
	return o
}

// config returns the configuration of a connection to NATS.
func (o *services) config() bus.Config {
	return bus.Config{URL: o.nats.URL(), User: natstest.User, Password: natstest.Password, Name: "test", Logger: slog.New(slog.DiscardHandler)}
}

// providers is the number of provider processes, one of which leads.
const providers = 2

// run starts the processes of a cluster: the providers, with only the rights of their
// package, and a node.
func (p *suite) run(t *testing.T, changes ...func(*node.Options)) {
	t.Helper()
	p.services = newServices(t)
	if p.shared {
		t.Cleanup(func() { p.forget(t) })
	}
	for i := range providers {
		// Kubernetes restarts pods that end; these processes do not restart.
		process, err := p.Run(fmt.Sprintf("koldun-provider-%d", i), p.programs.provider,
			[]string{"KUBECONFIG=" + p.providerIdentity, "POD_NAMESPACE=crossplane-system"}, "--metrics=0", "--health=")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(process.Stop)
		p.providers = append(p.providers, process)
	}
	o := node.Options{
		Image: image, Binary: p.programs.koldun, Programs: images(filepath.Dir(p.programs.koldun)),
		Env: []string{"KOLDUN_LISTEN_HOST=127.0.0.1"},
	}
	for _, change := range changes {
		change(&o)
	}
	p.node = node.Start(t, p.Config(), o)
	manifests, err := platform.Services{NATS: p.services.config(), S3: p.services.s3.Config(), Hub: p.services.hub}.Manifests()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context(), manifests...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.vacate(t) })
}

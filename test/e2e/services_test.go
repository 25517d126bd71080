package e2e_test

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/hub/hubserver"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/cluster/node"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// services are the servers outside the clusters: NATS in operator mode, an object store and
// a hub. They run until the test ends.
type services struct {
	nats *natstest.OperatorServer
	s3   *s3test.Gateway
	hub  string
}

func newServices(t *testing.T) *services {
	t.Helper()
	o := &services{nats: natstest.StartOpenOperator(t), s3: s3test.Start(t, t.TempDir(), "")}
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
	return o
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
	manifests, err := platform.Services{NATS: bus.Config{URL: p.services.nats.URL()}, Operator: p.services.nats.OperatorSecret(), S3: p.services.s3.Config(), Hub: p.services.hub}.Manifests()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context(), manifests...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.vacate(t) })
}

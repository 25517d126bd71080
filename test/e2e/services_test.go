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

// start starts the processes of a cluster: the providers, with only the rights of their
// package, and a node.
func (r *processes) start(t *testing.T, changes ...func(*node.Options)) {
	t.Helper()
	r.services = newServices(t)
	if r.cleanup.shared {
		t.Cleanup(func() { r.cleanup.forget(t) })
	}
	for i := range providers {
		// Kubernetes restarts pods that end; these processes do not restart.
		process, err := r.Run(fmt.Sprintf("koldun-provider-%d", i), r.installer.programs.provider,
			[]string{"KUBECONFIG=" + r.installer.providerIdentity, "POD_NAMESPACE=crossplane-system"}, "--metrics=0", "--health=")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(process.Stop)
		r.providers = append(r.providers, process)
	}
	o := node.Options{
		Image: image, Binary: r.installer.programs.koldun, Programs: images(filepath.Dir(r.installer.programs.koldun)),
		Env: []string{"KOLDUN_LISTEN_HOST=127.0.0.1"},
	}
	for _, change := range changes {
		change(&o)
	}
	r.node = node.Start(t, r.Config(), o)
	manifests, err := platform.Services{
		NATS: bus.Config{URL: r.services.nats.URL()}, Operator: r.services.nats.OperatorSecret(), S3: r.services.s3.Config(), Hub: r.services.hub,
	}.Manifests()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Apply(t.Context(), manifests...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.cleanup.vacate(t) })
}

package nats_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/nats-io/nats-server/v2/server"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/requeue"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
	"github.com/gorizond/koldun/test/waittest"
)

// rendered returns what the chart makes of the manifests with values, and the connection.
func rendered(t *testing.T, values string) (*manifests, v1alpha1.ClusterProviderConfig) {
	t.Helper()
	helm, err := platform.NewHelm("../..", "/nowhere", t.TempDir())
	if err != nil {
		cluster.Missing(t, "helm", "make bin/helm")
	}
	chart, err := platform.Chart(t.Context(), "../..", t.TempDir(), platform.Unreleased)
	if err != nil {
		t.Fatal(err)
	}
	text, err := helm.Run(t.Context(), "template", chart, "--set", "crossplane.install=false,nats.install=true,"+values)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := cluster.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	m, config := read(t), v1alpha1.ClusterProviderConfig{}
	for _, o := range objects {
		into := map[string]any{"ConfigMap nats-config": &m.config, "StatefulSet nats": &m.servers, "ClusterProviderConfig default": &config}[o.GetKind()+" "+o.GetName()]
		if into == nil {
			continue
		}
		raw, err := yaml.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(raw, into); err != nil {
			t.Error(err)
		}
	}
	return m, config
}

// TestServersOfTheChart reads the configuration for each number of servers.
func TestServersOfTheChart(t *testing.T) {
	for values, want := range map[string]struct{ servers, routes, gigabytes int }{
		"nats.replicas=1,nats.size=10Gi": {1, 0, 9},
		"nats.replicas=3":                {3, 3, 18},
		"nats.replicas=5,nats.size=40Gi": {5, 5, 36},
	} {
		t.Run(values, func(t *testing.T) {
			m, config := rendered(t, values)
			o := &server.Options{StoreDir: t.TempDir()}
			if err := m.configured(t, m.mount(t, made(t)), 0, o); err != nil {
				t.Fatal(err)
			}
			if int(*m.servers.Spec.Replicas) != want.servers || strings.Count(m.config.Data["nats.conf"], "nats-headless:6222") != want.routes || o.JetStreamMaxStore != int64(want.gigabytes)<<30 {
				t.Errorf("there are %d servers with %d bytes and the configuration %s", *m.servers.Spec.Replicas, o.JetStreamMaxStore, m.config.Data["nats.conf"])
			}
			if c := config.Spec.NATS.Operator; int(c.Servers) != want.servers || c.Limits.DiskBytes/int64(want.servers) != (4<<30)/3 {
				t.Errorf("the connection is to %d servers with %d bytes in an account", c.Servers, c.Limits.DiskBytes)
			}
		})
	}
}

// TestSingleServer runs the server of nats.replicas=1. The provider makes an account by the
// connection of the chart, and in it all streams and buckets.
func TestSingleServer(t *testing.T) {
	m, config := rendered(t, "nats.replicas=1")
	s, o := made(t), &server.Options{StoreDir: t.TempDir(), Host: "127.0.0.1", Port: server.RANDOM_PORT}
	if err := m.configured(t, m.mount(t, s), 0, o); err != nil {
		t.Fatal(err)
	}
	if o.Cluster.Name != "" {
		t.Fatalf("a single server waits for others of the cluster %q", o.Cluster.Name)
	}
	o.Cluster = server.ClusterOpts{}
	srv, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	if !srv.ReadyForConnections(waittest.Patience) {
		t.Fatal("the server does not start")
	}
	_, port, err := net.SplitHostPort(srv.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	pool := provider(t, s, config, fmt.Sprintf("nats://localhost:%s", port))
	ctx := waittest.Context(t)
	set := pool.For(requeue.Key{Kind: "Stream", NamespacedName: types.NamespacedName{Namespace: "team", Name: "x"}},
		&xpv2.ProviderConfigReference{Kind: v1alpha1.KindClusterProviderConfig, Name: connpool.Default})
	b, _, err := set.NATS(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, stream := range bus.Streams() {
		if err := b.EnsureStream(ctx, stream); err != nil {
			t.Fatal(err)
		}
	}
	for _, bucket := range bus.Buckets() {
		if err := b.EnsureKV(ctx, bucket); err != nil {
			t.Fatal(err)
		}
	}
}

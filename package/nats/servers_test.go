package nats_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/nats-io/nats-server/v2/server"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/local/embedded/nats"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth/bootstrap"
	"github.com/gorizond/koldun/package/manifesttest"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/requeue"
	"github.com/gorizond/koldun/test/waittest"
)

func made(t *testing.T) manifesttest.Secrets {
	t.Helper()
	s := manifesttest.Secrets{}
	if _, err := bootstrap.Ensure(t.Context(), s, bootstrap.Plan{Name: "nats", Namespace: namespace, Domain: "cluster.local"}); err != nil {
		t.Fatal(err)
	}
	return s
}

// mount writes the projected volume of the servers to a folder.
func (m *manifests) mount(t *testing.T, s manifesttest.Secrets) string {
	t.Helper()
	dir := t.TempDir()
	for _, v := range m.servers.Spec.Template.Spec.Volumes {
		for _, from := range v.Projected.Sources {
			switch {
			case from.ConfigMap != nil && from.ConfigMap.Name == m.config.Name:
				for _, i := range from.ConfigMap.Items {
					write(t, filepath.Join(dir, i.Path), []byte(m.config.Data[i.Key]))
				}
			case from.Secret != nil:
				for _, i := range from.Secret.Items {
					write(t, filepath.Join(dir, i.Path), s[from.Secret.Name][i.Key])
				}
			default:
				t.Fatalf("volume %s has a source that this test does not know", v.Name)
			}
		}
	}
	return dir
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if len(data) == 0 {
		t.Fatalf("%s would be empty", file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// configured reads the configuration as server i does. Only paths and addresses differ
// from those in a pod.
func (m *manifests) configured(t *testing.T, dir string, i int, at *server.Options) error {
	t.Helper()
	t.Setenv("POD_NAME", fmt.Sprintf("%s-%d", m.servers.Name, i))
	text := manifesttest.Content(t, filepath.Join(dir, "nats.conf"))
	text = strings.NewReplacer(`"/etc/nats/`, `"`+dir+`/`, `"/data`, `"`+at.StoreDir).Replace(text)
	file := filepath.Join(dir, fmt.Sprintf("nats-%d.conf", i))
	write(t, file, []byte(text))
	o, err := server.ProcessConfigFile(file)
	if err != nil {
		return err
	}
	o.Host, o.Port, o.HTTPHost, o.HTTPPort = at.Host, at.Port, "", 0
	o.Cluster.Host, o.Cluster.Port = at.Cluster.Host, at.Cluster.Port
	o.Routes = nil
	for _, r := range at.Routes {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: net.JoinHostPort("localhost", r.Port())})
	}
	o.NoSigs, o.NoLog = true, true
	*at = *o
	return nil
}

// TestConfiguration reads the configuration as it is.
func TestConfiguration(t *testing.T) {
	m := read(t)
	dir := m.mount(t, made(t))
	t.Setenv("POD_NAME", "nats-0")
	text := strings.NewReplacer(`"/etc/nats/`, `"`+dir+`/`, `"/data`, `"`+t.TempDir()).Replace(manifesttest.Content(t, filepath.Join(dir, "nats.conf")))
	write(t, filepath.Join(dir, "nats.conf"), []byte(text))
	o, err := server.ProcessConfigFile(filepath.Join(dir, "nats.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if o.MaxPayload != nats.MaxPayload {
		t.Errorf("messages have up to %d bytes, and %d in a koldun up", o.MaxPayload, nats.MaxPayload)
	}
	if len(o.Routes) != int(*m.servers.Spec.Replicas) {
		t.Errorf("%d routes for %d servers", len(o.Routes), *m.servers.Spec.Replicas)
	}
	for i, r := range o.Routes {
		if want := fmt.Sprintf("%s-%d.%s:%d", m.servers.Name, i, m.headless.Name, o.Cluster.Port); r.Host != want {
			t.Errorf("route %d leads to %q, want %q", i, r.Host, want)
		}
	}
	for name, port := range map[string]int{"nats": o.Port, "cluster": o.Cluster.Port, "monitor": o.HTTPPort} {
		found := false
		for _, p := range m.servers.Spec.Template.Spec.Containers[0].Ports {
			found = found || p.Name == name && int(p.ContainerPort) == port
		}
		if !found {
			t.Errorf("no port %s is %d", name, port)
		}
	}
	if limit := m.servers.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().Value(); o.JetStreamMaxStore*10 > limit*9 {
		t.Errorf("JetStream may fill %d bytes of a volume of %d", o.JetStreamMaxStore, limit)
	}
	if grace := *m.servers.Spec.Template.Spec.TerminationGracePeriodSeconds; o.LameDuckDuration >= time.Duration(grace)*time.Second {
		t.Errorf("a server ends within %v, and is killed after %ds", o.LameDuckDuration, grace)
	}
	if o.SyncInterval <= 0 || o.SyncInterval > time.Minute || !o.Cluster.NoAdvertise || o.Cluster.TLSConfig == nil || o.TLSConfig == nil {
		t.Errorf("sync interval %v, advertised %v, TLS between servers %v, to clients %v", o.SyncInterval, !o.Cluster.NoAdvertise, o.Cluster.TLSConfig != nil, o.TLSConfig != nil)
	}
}

// TestProviderConnects runs the three servers of the manifests with the Secrets that the
// Job makes. The provider makes an account by the example of a ClusterProviderConfig, and
// in it all streams and buckets with three replicas.
func TestProviderConnects(t *testing.T) {
	m, s := read(t), made(t)
	dir := m.mount(t, s)
	c := natstest.StartMembers(t, 3, func(i int, o *server.Options) error { return m.configured(t, dir, i, o) })
	pool := provider(t, s, example(t), strings.ReplaceAll(c.URL(), "127.0.0.1", "localhost"))
	ctx := waittest.Context(t)
	set := pool.For(requeue.Key{Kind: "Stream", NamespacedName: types.NamespacedName{Namespace: "team", Name: "x"}},
		&xpv2.ProviderConfigReference{Kind: v1alpha1.KindClusterProviderConfig, Name: connpool.Default})
	b, env, err := set.NATS(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(env) != 2 || strings.TrimSpace(string(env["NATS_CA"])) != strings.TrimSpace(string(s["nats-client"]["ca.crt"])) {
		t.Errorf("pods get %d variables, want the address and the authority of the servers", len(env))
	}
	for _, stream := range bus.Streams() {
		stream.Replicas = 3
		if err := b.EnsureStream(ctx, stream); err != nil {
			t.Fatal(err)
		}
	}
	for _, bucket := range bus.Buckets() {
		bucket.Replicas = 3
		if err := b.EnsureKV(ctx, bucket); err != nil {
			t.Fatal(err)
		}
	}
	info, err := b.JetStream().AccountInfo(ctx)
	if err != nil || info.Streams != len(bus.Streams())+len(bus.Buckets()) {
		t.Errorf("the account has %+v, %v", info, err)
	}
	refused, cancel := context.WithTimeout(ctx, waittest.Limit(3*time.Second))
	defer cancel()
	_, err = bus.Connect(refused, bus.Config{URL: c.URL(), Creds: string(s["nats-operator"]["system.creds"]), WithoutJetStream: true})
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a client without the authority of the servers: %v", err)
	}
}

// example returns the connection of the example.
func example(t *testing.T) v1alpha1.ClusterProviderConfig {
	t.Helper()
	var config v1alpha1.ClusterProviderConfig
	if err := yaml.UnmarshalStrict([]byte(manifesttest.Content(t, "../../examples/nats/clusterproviderconfig.yaml")), &config); err != nil {
		t.Fatal(err)
	}
	return config
}

// provider returns connections by config with the addresses of servers.
func provider(t *testing.T, s manifesttest.Secrets, config v1alpha1.ClusterProviderConfig, servers string) *connpool.Pool {
	t.Helper()
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(s["nats-client"]["url"]); config.Spec.NATS.URL != want {
		t.Errorf("the configuration connects to %q, the servers are at %q", config.Spec.NATS.URL, want)
	}
	config.Spec.NATS.URL = servers
	config.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{Names: []string{"team"}}
	objects := []client.Object{&config}
	for name, data := range s {
		objects = append(objects, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data})
	}
	api := fake.NewClientBuilder().WithScheme(known).WithObjects(objects...).Build()
	pool := connpool.NewPool(connpool.Program{Name: "koldun test"}, api, connpool.NewSecrets(api, api), requeue.NewTracker(), connpool.Cluster{})
	t.Cleanup(pool.Close)
	return pool
}

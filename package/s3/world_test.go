package s3_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/artifact/objectstore/bootstrap"
	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/bucket"
	"github.com/gorizond/koldun/internal/network/certs"
	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/package/manifesttest"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/requeue"
	"github.com/gorizond/koldun/test/cluster/platform"
	"github.com/gorizond/koldun/test/process"
	"github.com/gorizond/koldun/test/waittest"
)

// A world is the server as its pod runs it, with the Secrets that the Job makes. Only the
// folders and the address differ.
type world struct {
	*process.Server
	made    manifesttest.Secrets
	mounts  map[string]string // folders of the pod, and those in place of them
	address string
}

// koldun builds the program once.
var koldun = sync.OnceValues(func() (string, error) {
	return platform.Build(context.Background(), "../..", "cmd/koldun")
})

// start runs the server.
func start(t *testing.T, m *manifests) *world {
	t.Helper()
	program, err := koldun()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{made: manifesttest.Secrets{}, mounts: map[string]string{}, address: porttest.Address(t)}
	w.bootstrap(t)
	store, secret, c := t.TempDir(), t.TempDir(), m.container()
	for _, mount := range c.VolumeMounts { // which the kubelet makes
		folder := secret
		if below, ok := strings.CutPrefix(mount.MountPath, "/store"); ok {
			folder = store + below
		}
		w.mounts[mount.MountPath] = folder
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.mount(t, m)
	places, args := strings.NewReplacer(":7070", w.address, "=/store", "="+store, "=/tls/", "="+secret+"/"), []string{"--log-format=text"}
	for _, arg := range c.Args {
		args = append(args, places.Replace(arg))
	}
	w.Server = process.Start(t, process.Options{
		Name: "koldun s3 serve", Log: filepath.Join(t.TempDir(), "log"),
		Ready: w.url() + c.ReadinessProbe.HTTPGet.Path, Client: &http.Client{Transport: &http.Transport{TLSClientConfig: w.trust(t)}},
		Command: func() *exec.Cmd {
			cmd := exec.Command(program, append(args, "--reread=10ms")...)
			cmd.Env, cmd.Dir = w.env(c), "/"
			return cmd
		},
	})
	return w
}

// bootstrap does what the Job does.
func (w *world) bootstrap(t *testing.T) {
	t.Helper()
	if _, err := bootstrap.Ensure(t.Context(), w.made, plan); err != nil {
		t.Fatal(err)
	}
}

// mount writes the Secrets that the pod mounts, as they are now.
func (w *world) mount(t *testing.T, m *manifests) {
	t.Helper()
	for _, v := range m.server.Spec.Template.Spec.Volumes {
		for _, i := range v.Secret.Items {
			if err := os.WriteFile(filepath.Join(w.mounts["/"+v.Name], i.Path), w.made[v.Secret.SecretName][i.Key], 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (w *world) env(c corev1.Container) []string {
	var out []string
	for _, v := range c.Env {
		value := v.Value
		if v.ValueFrom != nil {
			value = string(w.made[v.ValueFrom.SecretKeyRef.Name][v.ValueFrom.SecretKeyRef.Key])
		}
		out = append(out, v.Name+"="+value)
	}
	return out
}

func (w *world) credentials() map[string][]byte { return w.made[plan.Secret(bootstrap.Credentials)] }

// url is the address of the server by a name of its certificate.
func (w *world) url() string {
	return "https://" + strings.Replace(w.address, "127.0.0.1", "localhost", 1)
}

// trust returns what checks the certificate of the server.
func (w *world) trust(t *testing.T) *tls.Config {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(w.credentials()[certs.CA]) {
		t.Fatal("clients get no authority")
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// platform returns the connection of the account, which the Provider alone has.
func (w *world) platform() s3.Config {
	c := w.credentials()
	return s3.Config{Endpoint: w.url(), AccessKey: string(c[bootstrap.AccessKey]), SecretKey: string(c[bootstrap.SecretKey]), CA: string(c[certs.CA])}
}

// observe has the Provider, with the connection of the example, observe a bucket for a
// namespace. It returns the Secret of its pods, of which stored is the one before.
func (w *world) observe(t *testing.T, namespace string, stored map[string][]byte, access ...bucket.Access) map[string][]byte {
	t.Helper()
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	config := example(t)
	config.Spec.S3.Endpoint = w.url()
	config.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{Names: []string{"*"}}
	ref := config.Spec.S3.SecretRef
	api := fake.NewClientBuilder().WithScheme(known).WithObjects(&config,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name}, Data: w.made[ref.Name]}).Build()
	pool := connpool.NewPool(connpool.Program{Name: "test"}, api, connpool.NewSecrets(api, api), requeue.NewTracker(), connpool.Cluster{})
	defer pool.Close()
	set := pool.For(requeue.Key{Kind: "Bucket", NamespacedName: types.NamespacedName{Namespace: namespace, Name: "x"}},
		&xpv2.ProviderConfigReference{Kind: v1alpha1.KindClusterProviderConfig, Name: connpool.Default})
	ctx := waittest.Context(t)
	client, cfg, err := set.S3(ctx)
	if err != nil {
		t.Fatal(err)
	}
	of, spec := bucket.New(client, cfg), bucket.Spec{BucketName: models, Access: access, Owner: external.Owner{Namespace: namespace}, Stored: stored}
	o, err := of.Observe(ctx, spec)
	if err == nil && !o.Exists {
		if err = of.Create(ctx, spec); err == nil {
			o, err = of.Observe(ctx, spec)
		}
	}
	if err != nil || !o.Ready || !o.Status.TemporaryCredentials || o.Status.NamespaceFolder != namespace {
		t.Fatalf("namespace %q gets %+v, %v", namespace, o.Status, err)
	}
	return o.Connection
}

// models is the bucket of all namespaces.
const models = "koldun-models"

// pod returns the connection that pods read from their Secret.
func pod(secret map[string][]byte) s3.Config {
	return s3.ConfigFromEnv(func(key string) string { return string(secret[key]) })
}

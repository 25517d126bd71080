package manager_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/artifact/hub/hubtest"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/test/cluster"
)

// platformNamespace is that of the platform's own Secrets, which outlives those of its users.
const platformNamespace = metav1.NamespaceDefault

// A world is a namespace that may use a NATS server in operator mode and an S3 gateway of its
// own, by a ClusterProviderConfig of its name.
type world struct {
	t       *testing.T
	client  client.Client
	cluster *cluster.Cluster
	ns      string
	nats    *natstest.OperatorServer
	s3      *s3test.Gateway
	linked  *bus.Bus     // nil until it is needed
	hub     *hubtest.Hub // only in a world of newLifecycleWorld, and so are s3down and s3at
	s3down  *atomic.Bool // makes s3at refuse connections
	s3at    string       // address of the proxy before s3
}

// newWorld returns a world in the cluster with the provider of most tests.
func newWorld(t *testing.T) *world {
	t.Helper()
	return worldOn(t, shared.Cluster(t))
}

func worldOn(t *testing.T, c *cluster.Cluster) *world {
	t.Helper()
	w := &world{
		t: t, client: newClient(t, c.Config()), cluster: c, ns: c.Namespace(t),
		nats: natstest.StartOpenOperator(t), s3: s3test.Start(t, t.TempDir(), ""), s3down: new(atomic.Bool),
	}
	// Some tests look into the account before the provider needs it.
	if err := w.nats.Accounts().Ensure(t.Context(), w.ns, natsauth.Limits{}); err != nil {
		t.Fatal(err)
	}
	w.install(outside(w.ns, w.nats, w.s3)...)
	return w
}

// outside returns a Secret and the ClusterProviderConfig that names it, for one namespace.
func outside(namespace string, nats *natstest.OperatorServer, s3 *s3test.Gateway) []client.Object {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: platformNamespace, Name: namespace}, Data: nats.OperatorSecret()}
	secret.StringData = map[string]string{"AWS_ACCESS_KEY_ID": s3test.AccessKey, "AWS_SECRET_ACCESS_KEY": s3test.SecretKey}
	ref := v1alpha1.CredentialsReference{Namespace: secret.Namespace, Name: secret.Name}
	p := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	p.Spec.AllowedNamespaces = &v1alpha1.AllowedNamespaces{Names: []string{namespace}}
	p.Spec.NATS = &v1alpha1.NATSConfig{URL: nats.URL(), Operator: &v1alpha1.NATSOperator{
		SecretRef: ref, Limits: v1alpha1.NATSUsualLimits{Streams: -1}, // tests make more than an installation has
	}}
	p.Spec.S3 = &v1alpha1.S3Config{Endpoint: s3.Endpoint, SecretRef: &ref}
	return []client.Object{secret, p}
}

// install creates objects of the platform, until the test ends.
func (w *world) install(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.client.Create(w.t.Context(), o); err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = w.client.Delete(context.Background(), o) })
	}
}

// configure changes the ClusterProviderConfig of the world.
func (w *world) configure(f func(*v1alpha1.ProviderConfigSpec)) {
	w.t.Helper()
	p := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}
	w.change(p, func() { f(&p.Spec.ProviderConfigSpec) })
}

// via returns the common spec of a managed resource that uses the ClusterProviderConfig of a
// namespace.
func via(namespace string, policies ...xpv2.ManagementAction) xpv2.ManagedResourceSpec {
	return xpv2.ManagedResourceSpec{
		ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: v1alpha1.KindClusterProviderConfig, Name: namespace},
		ManagementPolicies:      policies,
	}
}

func (w *world) create(obj client.Object) {
	w.t.Helper()
	obj.SetNamespace(w.ns)
	if err := w.client.Create(w.t.Context(), obj); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(obj client.Object) error {
	return w.client.Get(w.t.Context(), client.ObjectKeyFromObject(obj), obj)
}

// change updates an object, and retries after a conflict.
func (w *world) change(obj client.Object, f func()) {
	w.t.Helper()
	w.eventually("a change of "+obj.GetName(), func() error {
		if err := w.get(obj); err != nil {
			return err
		}
		f()
		return w.client.Update(w.t.Context(), obj)
	})
}

func (w *world) delete(obj client.Object) {
	w.t.Helper()
	if err := w.client.Delete(w.t.Context(), obj); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) eventually(what string, f func() error) {
	w.t.Helper()
	cluster.Eventually(w.t, what, func(context.Context) error { return f() })
}

// ready waits until a managed resource is ready and synced in its present
// generation.
func (w *world) ready(m resource.Managed) {
	w.t.Helper()
	w.eventually(m.GetName()+" to be ready", func() error {
		if err := w.get(m); err != nil {
			return err
		}
		ready, synced := m.GetCondition(xpv2.TypeReady), m.GetCondition(xpv2.TypeSynced)
		if ready.Status != corev1.ConditionTrue || synced.Status != corev1.ConditionTrue || synced.ObservedGeneration != m.GetGeneration() {
			return fmt.Errorf("ready %s %q, synced %s %q", ready.Status, ready.Message, synced.Status, synced.Message)
		}
		return nil
	})
}

// failing waits until a managed resource is not synced with a message that
// contains text, and returns the message.
func (w *world) failing(m resource.Managed, text string) string {
	w.t.Helper()
	message := ""
	w.eventually(m.GetName()+" to fail for "+text, func() error {
		if err := w.get(m); err != nil {
			return err
		}
		synced := m.GetCondition(xpv2.TypeSynced)
		message = synced.Message
		if synced.Status != corev1.ConditionFalse || !strings.Contains(message, text) {
			return fmt.Errorf("synced %s %q", synced.Status, message)
		}
		return nil
	})
	return message
}

func (w *world) gone(obj client.Object) {
	w.t.Helper()
	w.eventually(obj.GetName()+" to be deleted", func() error {
		err := w.get(obj)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, fmt.Errorf("still exists with finalizers %v", obj.GetFinalizers()))
	})
}

// bus returns the test's connection to the account of the namespace, which outlives restarts
// of the server.
func (w *world) bus() *bus.Bus {
	w.t.Helper()
	if w.linked == nil {
		w.linked = w.nats.Of(w.ns)
	}
	return w.linked
}

// queue is bus where Koldun's streams and buckets exist.
func (w *world) queue() *bus.Bus {
	w.t.Helper()
	if err := w.bus().Ensure(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return w.bus()
}

// secret waits for a Secret with exactly that data.
func (w *world) secret(name string, want map[string]string) {
	w.t.Helper()
	w.eventually("Secret "+name, func() error {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}}
		if err := w.get(s); err != nil {
			return err
		}
		have := map[string]string{}
		for k, v := range s.Data {
			have[k] = string(v)
		}
		if !maps.Equal(have, want) {
			return fmt.Errorf("got keys %v", slices.Collect(maps.Keys(have)))
		}
		return nil
	})
}

// poke requests a reconcile of a managed resource, as kubectl annotate would.
func (w *world) poke(m client.Object) {
	w.t.Helper()
	w.change(m, func() {
		meta.AddAnnotations(m, map[string]string{meta.AnnotationKeyReconcileRequestedAt: time.Now().String()})
	})
}

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
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/test/cluster"
)

// platformNamespace is that of the platform's own Secrets, which outlives those of its users.
const platformNamespace = metav1.NamespaceDefault

// A tenant is a namespace that may use a NATS server in operator mode and an S3 gateway of its
// own, by a ClusterProviderConfig of its name.
type tenant struct {
	*objects
	resources *resources
	account   *account
	buckets   *buckets
	config    *config
	servers   *servers
}

// newTenant returns a tenant in the cluster with the provider of most tests.
func newTenant(t *testing.T) *tenant {
	t.Helper()
	return tenantOn(t, shared.Cluster(t))
}

func tenantOn(t *testing.T, c *cluster.Cluster) *tenant {
	t.Helper()
	n := &namespace{t: t, client: newClient(t, c.Config()), cluster: c, ns: c.Namespace(t)}
	w := tenantOf(n, &account{server: natstest.StartOpenOperator(t)}, &buckets{s3: s3test.Start(t, t.TempDir(), "")}, &servers{s3down: new(atomic.Bool)})
	// Some tests look into the account before the provider needs it.
	if err := w.account.server.Accounts().Ensure(t.Context(), w.ns, natsauth.Limits{}); err != nil {
		t.Fatal(err)
	}
	w.install(outside(w.ns, w.account.server, w.buckets.s3)...)
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
func (ob *objects) install(objects ...client.Object) {
	ob.t.Helper()
	for _, o := range objects {
		if err := ob.client.Create(ob.t.Context(), o); err != nil {
			ob.t.Fatal(err)
		}
		ob.t.Cleanup(func() { _ = ob.client.Delete(context.Background(), o) })
	}
}

// configure changes the ClusterProviderConfig of the tenant.
func (c *config) configure(f func(*v1alpha1.ProviderConfigSpec)) {
	c.t.Helper()
	p := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: c.ns}}
	c.change(p, func() { f(&p.Spec.ProviderConfigSpec) })
}

// via returns the common spec of a managed resource that uses the ClusterProviderConfig of a
// namespace.
func via(namespace string, policies ...xpv2.ManagementAction) xpv2.ManagedResourceSpec {
	return xpv2.ManagedResourceSpec{
		ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: v1alpha1.KindClusterProviderConfig, Name: namespace},
		ManagementPolicies:      policies,
	}
}

func (ob *objects) create(obj client.Object) {
	ob.t.Helper()
	obj.SetNamespace(ob.ns)
	if err := ob.client.Create(ob.t.Context(), obj); err != nil {
		ob.t.Fatal(err)
	}
}

func (ob *objects) get(obj client.Object) error {
	return ob.client.Get(ob.t.Context(), client.ObjectKeyFromObject(obj), obj)
}

// change updates an object, and retries after a conflict.
func (ob *objects) change(obj client.Object, f func()) {
	ob.t.Helper()
	ob.eventually("a change of "+obj.GetName(), func() error {
		if err := ob.get(obj); err != nil {
			return err
		}
		f()
		return ob.client.Update(ob.t.Context(), obj)
	})
}

func (ob *objects) delete(obj client.Object) {
	ob.t.Helper()
	if err := ob.client.Delete(ob.t.Context(), obj); err != nil {
		ob.t.Fatal(err)
	}
}

func (ob *objects) eventually(what string, f func() error) {
	ob.t.Helper()
	cluster.Eventually(ob.t, what, func(context.Context) error { return f() })
}

// ready waits until a managed resource is ready and synced in its present
// generation.
func (r *resources) ready(m resource.Managed) {
	r.t.Helper()
	r.eventually(m.GetName()+" to be ready", func() error {
		if err := r.get(m); err != nil {
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
func (r *resources) failing(m resource.Managed, text string) string {
	r.t.Helper()
	message := ""
	r.eventually(m.GetName()+" to fail for "+text, func() error {
		if err := r.get(m); err != nil {
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

func (ob *objects) gone(obj client.Object) {
	ob.t.Helper()
	ob.eventually(obj.GetName()+" to be deleted", func() error {
		err := ob.get(obj)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, fmt.Errorf("still exists with finalizers %v", obj.GetFinalizers()))
	})
}

// bus returns the test's connection to the account of the namespace, which outlives restarts
// of the server.
func (a *account) bus() *bus.Bus {
	a.t.Helper()
	if a.conn == nil {
		a.conn = a.server.Of(a.ns)
	}
	return a.conn
}

// queue is bus where Koldun's streams and buckets exist.
func (a *account) queue() *bus.Bus {
	a.t.Helper()
	if err := a.bus().Ensure(a.t.Context()); err != nil {
		a.t.Fatal(err)
	}
	return a.bus()
}

// secret waits for a Secret with exactly that data.
func (ob *objects) secret(name string, want map[string]string) {
	ob.t.Helper()
	ob.eventually("Secret "+name, func() error {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ob.ns, Name: name}}
		if err := ob.get(s); err != nil {
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
func (r *resources) poke(m client.Object) {
	r.t.Helper()
	r.change(m, func() {
		meta.AddAnnotations(m, map[string]string{meta.AnnotationKeyReconcileRequestedAt: time.Now().String()})
	})
}

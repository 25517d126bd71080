package guard

import (
	"errors"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/requeue"
)

// scene returns a guard and an API with a ProviderConfig that describes NATS only,
// a default ProviderConfig that describes the rest, the Secret of each, and a
// Stream that uses the first.
func scene(t *testing.T, policies ...xpv2.ManagementAction) (*Guard, client.Client, *v1alpha1.Stream) {
	t.Helper()
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	m := &v1alpha1.Stream{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "work", Finalizers: []string{managed.FinalizerName}},
		Spec: v1alpha1.StreamSpec{ManagedResourceSpec: xpv2.ManagedResourceSpec{
			ManagementPolicies:      policies,
			ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: v1alpha1.KindProviderConfig, Name: "outside"},
		}},
	}
	api := fake.NewClientBuilder().WithScheme(known).WithObjects(
		m,
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "nats"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "s3"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "other"}},
		&v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "outside"}, Spec: v1alpha1.ProviderConfigSpec{
			NATS: &v1alpha1.NATSConfig{URL: "nats://x", SecretRef: &v1alpha1.CredentialsReference{Name: "nats"}},
		}},
		&v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: connpool.Default}, Spec: v1alpha1.ClusterProviderConfigSpec{ProviderConfigSpec: v1alpha1.ProviderConfigSpec{
			S3: &v1alpha1.S3Config{Endpoint: "http://x", SecretRef: &v1alpha1.CredentialsReference{Namespace: "system", Name: "s3"}},
		}}},
	).Build()
	return New(api, api, api, []string{v1alpha1.KindStream}), api, m
}

// objects lists the objects by role, and whether a resource uses them.
var objects = map[string]struct {
	key  requeue.Key
	used bool
}{
	"Config":        {keyFor(v1alpha1.KindProviderConfig, "ns", "outside"), true},
	"Default":       {connpool.DefaultKey(), true},
	"Secret":        {keyFor(connpool.KindSecret, "ns", "nats"), true},
	"DefaultSecret": {keyFor(connpool.KindSecret, "system", "s3"), true},
	"Other":         {keyFor(connpool.KindSecret, "ns", "other"), false},
}

// kept checks which objects have the finalizer.
func kept(t *testing.T, g *Guard, when string, want func(used bool) bool) {
	t.Helper()
	for name, o := range objects {
		obj, err := g.get(t.Context(), o.key)
		if err != nil {
			t.Fatal(err)
		}
		if Kept(obj) != want(o.used) {
			t.Errorf("%s, %s is kept: %v", when, name, Kept(obj))
		}
	}
}

func TestHoldKeepsWhatADeletionNeeds(t *testing.T) {
	g, api, m := scene(t, xpv2.ManagementActionAll)
	for range 2 { // Hold is idempotent
		if err := g.Hold(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	kept(t, g, "while it is used", func(used bool) bool { return used })
	look := func() {
		t.Helper()
		for _, o := range objects {
			if _, err := g.reconcile(t.Context(), o.key); err != nil {
				t.Fatal(err)
			}
		}
	}
	look()
	kept(t, g, "after a look while it is used", func(used bool) bool { return used })

	// It is being deleted, and its external resource still exists.
	if err := api.Delete(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	look()
	kept(t, g, "while it is being deleted", func(used bool) bool { return used })

	if err := api.Get(t.Context(), client.ObjectKeyFromObject(m), m); err != nil {
		t.Fatal(err)
	}
	m.Finalizers = nil
	if err := api.Update(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	look()
	kept(t, g, "after it has gone", func(bool) bool { return false })
}

func TestWhatIsNotDeletedNeedsNothing(t *testing.T) {
	for name, policies := range map[string][]xpv2.ManagementAction{
		"ObserveOnly": {xpv2.ManagementActionObserve},
		"NoDelete":    {xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate},
	} {
		t.Run(name, func(t *testing.T) {
			g, _, m := scene(t, policies...)
			if err := g.Hold(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			kept(t, g, "for it", func(bool) bool { return false })
		})
	}
}

// An object that is being deleted without the guard's finalizer disappears soon:
// no external resource may be created with it.
func TestNothingIsMadeWithWhatIsGoing(t *testing.T) {
	g, api, m := scene(t, xpv2.ManagementActionAll)
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "nats"}}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
		t.Fatal(err)
	}
	s.Finalizers = []string{"example.org/of-somebody"}
	if err := api.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := api.Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := g.Hold(t.Context(), m); !fault.Is(err, fault.Conflict) {
		t.Errorf("Hold: %v of kind %s, want Conflict", err, fault.KindOf(err))
	}
}

// TestConfigFreesItsSecrets deletes a resource that has read its configurations, and not the
// Secret of a connection that it did not need.
func TestConfigFreesItsSecrets(t *testing.T) {
	g, api, m := scene(t, xpv2.ManagementActionAll)
	g.queue = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[requeue.Key]())
	defer g.queue.ShutDown()
	if err := g.Hold(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	m.Finalizers = nil
	if err := errors.Join(api.Update(t.Context(), m), api.Delete(t.Context(), m)); err != nil {
		t.Fatal(err)
	}
	g.Check(objects["Config"].key, objects["Default"].key)
	for g.queue.Len() > 0 {
		key, _ := g.queue.Get()
		if _, err := g.reconcile(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		g.queue.Done(key)
	}
	kept(t, g, "after its configurations are free", func(bool) bool { return false })
}

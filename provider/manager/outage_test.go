package manager_test

import (
	"fmt"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

func TestOutageOfNATS(t *testing.T) {
	w := newTenant(t)
	m := stream(w, "SURVIVES")
	w.create(m)
	w.resources.ready(m)
	other := keyValue(w, "waits")
	w.create(other)
	w.resources.ready(other)
	js := w.account.bus().JetStream()
	if _, err := js.Publish(t.Context(), "SURVIVES.a", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	w.account.server.Stop()
	w.resources.poke(m)
	message := w.resources.failing(m, w.account.server.URL())
	w.leaksNoSecret(m, message)
	// A resource that is deleted during the outage keeps its finalizer.
	w.delete(other)
	w.resources.failing(other, w.account.server.URL())

	w.account.server.Restart()
	w.resources.ready(m) // without a poke: polls are an hour apart
	w.gone(other)
	s, err := w.account.bus().JetStream().Stream(t.Context(), "SURVIVES")
	if err != nil || s.CachedInfo().State.Msgs != 1 {
		t.Errorf("stream after the outage: got %+v, %v; want 1 message", s, err)
	}
	w.resources.fewEvents(m, 4) // created, at most one update, one failure with up to two texts
}

// fewEvents checks that repeated attempts do not send an event each.
func (r *resources) fewEvents(m client.Object, most int32) {
	r.t.Helper()
	var list corev1.EventList
	if err := r.client.List(r.t.Context(), &list, client.InNamespace(r.ns)); err != nil {
		r.t.Fatal(err)
	}
	var n int32
	for _, e := range list.Items {
		if e.InvolvedObject.UID == m.GetUID() {
			n += max(e.Count, 1)
		}
	}
	if n > most {
		r.t.Errorf("got %d events of one outage, want at most %d: %v", n, most, list.Items)
	}
}

func TestConnectionsAreSharedAndClosed(t *testing.T) {
	w := newTenant(t)
	before := w.account.server.Clients()
	a, b := stream(w, "A"), keyValue(w, "b")
	w.create(a)
	w.create(b)
	w.resources.ready(a)
	w.resources.ready(b)
	if n := w.account.server.Clients() - before; n != 2 {
		t.Errorf("got %d connections for two resources, want one to their account and one to the system account", n)
	}
	w.delete(a)
	w.delete(b)
	w.gone(a)
	w.gone(b)
	w.eventually("the close of the connections", func() error {
		if n := w.account.server.Clients() - before; n > 0 {
			return fmt.Errorf("%d connections are open, want 0", n)
		}
		return nil
	})
}

// A ProviderConfig takes the sections that it omits from the default one.
func TestDefaultConfig(t *testing.T) {
	w := newTenant(t)
	own := w.config.own()
	half := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: own.Name}}
	w.change(half, func() { half.Spec.NATS = nil })
	m := stream(w, "DEFAULT")
	m.Spec.ProviderConfigReference = own
	w.create(m)
	w.resources.failing(m, "ClusterProviderConfig \"default\"")

	all := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	all.Spec.NATS = &v1alpha1.NATSConfig{URL: w.account.server.URL(), Operator: &v1alpha1.NATSOperator{
		SecretRef: v1alpha1.CredentialsReference{Namespace: platformNamespace, Name: w.ns},
	}}
	if err := w.client.Create(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	// Nobody may use it before the platform says so.
	w.resources.failing(m, `namespace "`+w.ns+`" may not use ClusterProviderConfig "default": `+
		`a platform engineer has to label it (kubectl label namespace `+w.ns+` koldun.gorizond.io/connection=allowed)`)
	refused := keyValue(w, "refused")
	refused.Spec.ProviderConfigReference = own
	w.create(refused)
	w.resources.failing(refused, "may not use")
	w.delete(refused)
	w.gone(refused)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}
	w.change(namespace, func() {
		metav1.SetMetaDataLabel(&namespace.ObjectMeta, v1alpha1.LabelConnection, v1alpha1.ConnectionAllowed)
	})
	w.resources.ready(m)
	plain := keyValue(w, "default")
	plain.Spec.ProviderConfigReference = nil
	w.create(plain)
	w.resources.ready(plain)
	if err := w.client.Delete(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	w.delete(m)
	w.gone(m)
	if err := w.get(all); err != nil {
		t.Errorf("the default ProviderConfig is deleted before its users: %v", err)
	}
	w.delete(plain)
	w.gone(plain)
	w.gone(all)
}

// The order in which a namespace controller deletes objects is undefined.
func TestNamespaceEnds(t *testing.T) {
	w := newTenant(t)
	own := w.config.own()
	made := []resource.ModernManaged{stream(w, "ENDS"), keyValue(w, "ends"), bucket(w, "ends")}
	for _, m := range made {
		m.SetProviderConfigReference(own)
		w.create(m)
		w.resources.ready(m)
	}
	// Here the ProviderConfig and its Secret are deleted first.
	w.account.server.Stop()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}
	if err := w.client.Delete(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: own.Name}}
	w.eventually("the deletion timestamp of the Secret", func() error {
		if err := w.get(secret); err != nil {
			return err
		}
		if secret.DeletionTimestamp == nil {
			return fmt.Errorf("no deletion timestamp")
		}
		return nil
	})
	w.gone(made[2]) // its server is available
	w.account.server.Restart()
	w.eventually("the end of the namespace", func() error {
		err := w.client.Get(t.Context(), client.ObjectKeyFromObject(ns), ns)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("namespace still exists, conditions %v: %w", ns.Status.Conditions, err)
	})
	w.account.noStream("ENDS")
	w.account.noStream("KV_ends")
	if w.buckets.exists("ends") {
		t.Error("bucket still exists")
	}
}

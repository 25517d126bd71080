package manager_test

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/nats-io/nats.go/jetstream"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

func keyValue(w *tenant, bucket string, policies ...xpv2.ManagementAction) *v1alpha1.KeyValue {
	return &v1alpha1.KeyValue{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "keys"},
		Spec: v1alpha1.KeyValueSpec{ManagedResourceSpec: via(w.ns, policies...), ForProvider: v1alpha1.KeyValueParameters{
			Bucket: bucket, LimitMarkerTTL: &metav1.Duration{Duration: time.Minute}, MaxValueSize: new(int32(1000)),
		}},
	}
}

func TestKeyValue(t *testing.T) {
	w := newTenant(t)
	js := w.account.bus().JetStream()
	// An existing bucket is adopted: values and history stay.
	old, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "keys", History: 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Put(t.Context(), "a", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	m := keyValue(w, "keys")
	w.create(m)
	w.resources.ready(m)
	same := func(c jetstream.StreamConfig) bool {
		return c.SubjectDeleteMarkerTTL == time.Minute && c.MaxMsgsPerSubject == 3 && c.MaxMsgSize == 1000
	}
	w.account.stream("KV_keys", "markers and the old history", same)
	if h := m.Spec.ForProvider.History; h != 3 {
		t.Errorf("late-initialized history: got %d, want 3", h)
	}
	if _, err := old.Get(t.Context(), "a"); err != nil {
		t.Errorf("get value: %v", err)
	}
	// A deleted bucket is created again with the late-initialized fields.
	if err := js.DeleteKeyValue(t.Context(), "keys"); err != nil {
		t.Fatal(err)
	}
	w.account.stream("KV_keys", "all of it again", same)
}

func TestKeyValueIsOnlyObserved(t *testing.T) {
	w := newTenant(t)
	m := keyValue(w, "seen", xpv2.ManagementActionObserve)
	w.create(m)
	w.resources.failing(m, "does not exist")
	if _, err := w.account.bus().JetStream().CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "seen", History: 2}); err != nil {
		t.Fatal(err)
	}
	w.resources.ready(m)
	if s := m.Status.AtProvider; s.Configured || s.History != 2 {
		t.Errorf("the status is %+v", s)
	}
	w.delete(m)
	w.gone(m)
	w.account.stream("KV_seen", "its own configuration", func(c jetstream.StreamConfig) bool { return c.MaxMsgSize == -1 })
}

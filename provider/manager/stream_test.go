package manager_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/nats-io/nats.go/jetstream"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

func stream(w *tenant, name string, policies ...xpv2.ManagementAction) *v1alpha1.Stream {
	return &v1alpha1.Stream{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "work"},
		Spec: v1alpha1.StreamSpec{ManagedResourceSpec: via(w.ns, policies...), ForProvider: v1alpha1.StreamParameters{
			Name: name, Subjects: []string{name + ".>"}, MaxMsgs: new(int64(10)), MaxMsgSize: new(int32(1000)), MaxMsgsPerSubject: new(int64(5)), Discard: "new",
		}},
	}
}

// config waits until the stream is there and as it should be.
func (a *account) stream(name, what string, ok func(jetstream.StreamConfig) bool) {
	a.t.Helper()
	js := a.bus().JetStream()
	a.eventually("a stream with "+what, func() error {
		s, err := js.Stream(a.t.Context(), name)
		if err != nil {
			return err
		}
		if c := s.CachedInfo().Config; !ok(c) {
			return fmt.Errorf("it is %+v", c)
		}
		return nil
	})
}

func (a *account) noStream(name string) {
	a.t.Helper()
	if _, err := a.bus().JetStream().Stream(a.t.Context(), name); !errors.Is(err, jetstream.ErrStreamNotFound) {
		a.t.Errorf("get stream %q: got %v, want none", name, err)
	}
}

func TestStream(t *testing.T) {
	w := newTenant(t)
	m := stream(w, "WORK")
	m.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "connection"}
	w.create(m)
	w.resources.ready(m)
	w.account.stream("WORK", "its limits", func(c jetstream.StreamConfig) bool {
		return c.MaxMsgs == 10 && c.MaxMsgSize == 1000 && c.MaxMsgsPerSubject == 5 && c.DiscardNewPerSubject
	})
	w.secret("connection", map[string]string{"NATS_URL": w.account.server.URL()})
	if meta.GetExternalName(m) != "WORK" {
		t.Errorf("the external name is %q", meta.GetExternalName(m))
	}
}

func TestStreamIsPaused(t *testing.T) {
	w := newTenant(t)
	m := stream(w, "PAUSED")
	w.create(m)
	w.resources.ready(m)
	w.change(m, func() { meta.AddAnnotations(m, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"}) })
	w.resources.failing(m, "") // Synced is false while it is paused
	if err := w.account.bus().JetStream().DeleteStream(t.Context(), "PAUSED"); err != nil {
		t.Fatal(err)
	}
	w.resources.poke(m)
	w.change(m, func() { meta.RemoveAnnotations(m, meta.AnnotationKeyReconciliationPaused) })
	w.account.stream("PAUSED", "its limits again", func(c jetstream.StreamConfig) bool { return c.MaxMsgs == 10 })
}

func TestStreamRefusesEarly(t *testing.T) {
	w := newTenant(t)
	m := stream(w, "FIRST")
	w.create(m)
	w.resources.ready(m)
	m.Spec.ForProvider.Name = "SECOND"
	if err := w.client.Update(t.Context(), m); err == nil || !strings.Contains(err.Error(), "cannot be renamed") {
		t.Errorf("renamed: %v", err)
	}
	w.change(m, func() { meta.SetExternalName(m, "SECOND") })
	w.resources.failing(m, "external-name")
}

// What the documentation shows is accepted.
func TestExamplesAreAccepted(t *testing.T) {
	w := newTenant(t)
	for _, file := range []string{"connection.yaml", "resources.yaml"} {
		raw, err := os.ReadFile("../../examples/managed/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.cluster.ApplyIn(t.Context(), w.ns, string(raw)); err != nil {
			t.Error(err)
		}
	}
	// Nothing can be made with it, so it ends at once.
	w.delete(&v1alpha1.NodeLabelRule{ObjectMeta: metav1.ObjectMeta{Name: "large"}})
}

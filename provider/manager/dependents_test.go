package manager_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	composite "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external/demand"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/registry"
)

// composites installs the CRDs of the kinds that managed resources create.
func (ob *objects) composites() {
	ob.t.Helper()
	for _, plural := range []string{"sessions", "dllamas", "models", "ingresses"} {
		crd, err := os.ReadFile("../../apis/crds/koldun.gorizond.io_" + plural + ".yaml")
		if err != nil {
			ob.t.Fatal(err)
		}
		if err := ob.cluster.Apply(ob.t.Context(), string(crd)); err != nil {
			ob.t.Fatal(err)
		}
	}
}

// object returns an object of one of Koldun's composite kinds.
func object(kind, name string, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetAPIVersion(composite.APIVersion)
	u.SetKind(kind)
	u.SetName(name)
	return u
}

// made waits for an object that a managed resource controls.
func (ob *objects) made(kind, name string, by client.Object) *unstructured.Unstructured {
	ob.t.Helper()
	u := object(kind, name, nil)
	u.SetNamespace(ob.ns)
	ob.eventually(kind+" "+name, func() error {
		if err := ob.get(u); err != nil {
			return err
		}
		if !metav1.IsControlledBy(u, by) {
			return fmt.Errorf("owners are %v", u.GetOwnerReferences())
		}
		return nil
	})
	return u
}

func template(spec string) *v1alpha1.ObjectTemplate {
	return &v1alpha1.ObjectTemplate{
		Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}, Spec: &runtime.RawExtension{Raw: []byte(spec)},
	}
}

// asked writes the demand for a pool.
func (a *account) asked(of *registry.Table[registry.Demand], key, model string) {
	a.t.Helper()
	d := registry.Demand{Version: 1, Session: key, Namespace: a.ns, Model: model}
	if _, err := of.Put(a.t.Context(), key, d); err != nil {
		a.t.Fatal(err)
	}
}

func TestDemandKeepsASessionForEachPool(t *testing.T) {
	w := newTenant(t)
	w.composites()
	b := w.account.queue()
	m := &v1alpha1.Demand{
		ObjectMeta: metav1.ObjectMeta{Name: "demanded"},
		Spec: v1alpha1.DemandSpec{ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.DemandParameters{
			Namespace: w.ns, MaxIsolated: 8, Session: template(`{"scaling":{"maxDllamas":3}}`),
		}},
	}
	w.create(m)
	w.resources.ready(m)
	key := names.Session(w.ns, "tiny", "")
	name := demand.SessionName(demand.Session{Key: key, Model: "tiny"})
	table := registry.Demands(b)
	w.account.asked(table, key, "tiny")
	s := w.made(composite.KindSession, name, m)
	is := func(u *unstructured.Unstructured, want any, path ...string) {
		t.Helper()
		if got, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...); got != want {
			t.Errorf("%v: got %v, want %v", path, got, want)
		}
	}
	is(s, key, "spec", "key")
	is(s, "tiny", "spec", "modelRef", "name")
	is(s, int64(3), "spec", "scaling", "maxDllamas")
	is(s, "b", "metadata", "labels", "a")
	is(s, "d", "metadata", "annotations", "c")

	// A changed field is restored and a field that the template drops is removed;
	// fields of other managers stay.
	w.change(s, func() {
		_ = unstructured.SetNestedField(s.Object, int64(9), "spec", "scaling", "maxDllamas")
		_ = unstructured.SetNestedField(s.Object, "theirs", "metadata", "labels", "other")
	})
	w.eventually("the restored Session", func() error {
		if err := w.get(s); err != nil {
			return err
		}
		if n, _, _ := unstructured.NestedInt64(s.Object, "spec", "scaling", "maxDllamas"); n != 3 {
			return fmt.Errorf("maxDllamas is %d", n)
		}
		return nil
	})
	w.change(m, func() { m.Spec.ForProvider.Session = template(`{"scaling":{"minDllamas":2}}`) })
	w.eventually("the new template in the Session", func() error {
		if err := w.get(s); err != nil {
			return err
		}
		if n, found, _ := unstructured.NestedInt64(s.Object, "spec", "scaling", "minDllamas"); !found || n != 2 {
			return fmt.Errorf("minDllamas is %d", n)
		}
		return nil
	})
	is(s, "theirs", "metadata", "labels", "other")
	if n, found, _ := unstructured.NestedInt64(s.Object, "spec", "scaling", "maxDllamas"); found && n == 3 {
		t.Error("a field that the template dropped still exists")
	}

	// A deleted Session is created again; without demand it is deleted.
	first := s.GetUID()
	w.delete(s)
	w.eventually("a new Session", func() error {
		if err := w.get(s); err != nil {
			return err
		}
		if s.GetUID() == first {
			return fmt.Errorf("the first one still exists")
		}
		return nil
	})
	if err := table.Delete(t.Context(), key, 0); err != nil {
		t.Fatal(err)
	}
	w.gone(s)
}

// A pool gets one Session: from the first of several Demands, and from none if a
// user has created one, or a Dllama that scales.
func TestOnePoolHasOneSession(t *testing.T) {
	w := newTenant(t)
	w.composites()
	b := w.account.queue()
	key, hand, scaled := names.Session(w.ns, "tiny", ""), names.Session(w.ns, "own", ""), names.Session(w.ns, "big", "")
	w.create(object(composite.KindSession, "by-hand", map[string]any{"modelRef": map[string]any{"name": "own"}, "key": hand}))
	w.create(object(composite.KindDllama, "large", map[string]any{
		"modelRef": map[string]any{"name": "big"}, "expose": map[string]any{"scaling": map[string]any{"minDllamas": int64(0)}},
	}))
	table := registry.Demands(b)
	w.account.asked(table, key, "tiny")
	w.account.asked(table, hand, "own")
	w.account.asked(table, scaled, "big")
	of := func(name string, policies ...xpv2.ManagementAction) *v1alpha1.Demand {
		m := &v1alpha1.Demand{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: v1alpha1.DemandSpec{ManagedResourceSpec: via(w.ns, policies...), ForProvider: v1alpha1.DemandParameters{
				Namespace: w.ns, MaxIsolated: 8, Session: template(`{}`),
			}},
		}
		w.create(m)
		return m
	}
	// A Demand that only observes creates nothing.
	looking := of("looking", xpv2.ManagementActionObserve)
	w.eventually("the list of all pools", func() error {
		if err := w.get(looking); err != nil {
			return err
		}
		if n := len(looking.Status.AtProvider.Sessions); n != 3 {
			return fmt.Errorf("got %d pools, want 3", n)
		}
		return nil
	})
	sessions := func(want int) {
		t.Helper()
		var list unstructured.UnstructuredList
		list.SetAPIVersion(composite.APIVersion)
		list.SetKind("SessionList")
		if err := w.client.List(t.Context(), &list, client.InNamespace(w.ns)); err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != want {
			t.Errorf("got %d Sessions, want %d", len(list.Items), want)
		}
	}
	sessions(1)
	name := demand.SessionName(demand.Session{Key: key, Model: "tiny"})
	one := of("one")
	s := w.made(composite.KindSession, name, one)
	two := of("two")
	w.resources.ready(two)
	sessions(2)
	// After the deletion of the Demand that created the Session, the other Demand
	// creates it. The garbage collector, which may not know the kind yet, would
	// delete the first Session.
	w.delete(one)
	w.gone(one)
	if err := w.client.Delete(t.Context(), s); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	w.made(composite.KindSession, name, two)
}

func TestPoolKeepsADllamaForEachMember(t *testing.T) {
	w := newTenant(t)
	w.composites()
	w.account.queue()
	m := &v1alpha1.Pool{
		ObjectMeta: metav1.ObjectMeta{Name: "pool"},
		Spec: v1alpha1.PoolSpec{ManagedResourceSpec: via(w.ns), ForProvider: v1alpha1.PoolParameters{
			Session: names.Session(w.ns, "tiny", ""), MinMembers: 2, MaxMembers: 4, Owner: w.ns + "/chat", Dllama: template(`{"modelRef":{"name":"tiny"}}`),
		}},
	}
	w.create(m)
	w.made(composite.KindDllama, "chat-1", m)
	d := w.made(composite.KindDllama, "chat-0", m)
	// The Pool shows the status of its Dllamas.
	w.eventually("the status of the Dllama", func() error {
		if err := w.get(d); err != nil {
			return err
		}
		d.Object["status"] = map[string]any{"readyWorkers": int64(3), "conditions": []any{map[string]any{
			"type": "Serving", "status": "True", "reason": "Available", "message": "It serves", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		}}}
		return w.client.Status().Update(t.Context(), d)
	})
	w.eventually("an active member", func() error {
		if err := w.get(m); err != nil {
			return err
		}
		want := v1alpha1.PoolMember{Name: "0", Phase: v1alpha1.PoolActive, Ready: true, ReadyWorkers: 3}
		if all := m.Status.AtProvider.Members; len(all) != 2 || all[0] != want {
			return fmt.Errorf("got members %+v, want two and the first %+v", all, want)
		}
		return nil
	})
	// A Dllama of that name with another owner stays unchanged, and is reported.
	other := object(composite.KindDllama, "chat-2", map[string]any{"modelRef": map[string]any{"name": "other"}})
	w.create(other)
	w.change(m, func() { m.Spec.ForProvider.MinMembers = 3 })
	w.resources.failing(m, `"chat-2"`)
	if err := w.get(other); err != nil || len(other.GetOwnerReferences()) > 0 {
		t.Errorf("owners of another's Dllama: got %v, %v; want none", other.GetOwnerReferences(), err)
	}
	w.delete(other)
	w.made(composite.KindDllama, "chat-2", m)

	w.change(m, func() { m.Spec.ForProvider.Dllama = nil })
	w.gone(d)
}

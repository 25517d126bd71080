package e2e_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/cluster"
)

const (
	concurrent = 8 // sessions created at the same time
	wanted     = 8 // pools demanded at the same time
)

// sessions starts many pools at once, by Sessions and by demand at an Ingress, and then
// deletes the namespace.
func (p *suite) sessions(t *testing.T) {
	ctx := t.Context()
	ns := p.Namespace(t)
	t.Cleanup(func() { t.Logf("budget:\n%s", p.budgets.counter.Report("crowd")) })
	if err := p.ApplyIn(ctx, ns, inVolume, `{apiVersion: koldun.gorizond.io/v1, kind: Ingress, metadata: {name: crowd}, spec: {
  backend: {allowAnonymous: true, isolation: conversation, maxSessions: 32, sessionScaling: {minDllamas: 1}}}}`); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the Ingress to be ready", p.holds(ns, api, "Ingress", "crowd", "Ready"))
	for i := range concurrent {
		if err := p.ApplyIn(ctx, ns, fmt.Sprintf(`{apiVersion: koldun.gorizond.io/v1, kind: Session, metadata: {name: crowd-%d}, spec: {
  modelRef: {name: big}, hash: '%064d'}}`, i, i)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range wanted {
		p.ask(ns, names.Session(ns, "big", fmt.Sprint(i)), "big")
	}
	cluster.Eventually(t, "all sessions to be ready", p.allReady(ns, "Session", concurrent+wanted))
	cluster.Eventually(t, "the Ingress to be ready", p.holds(ns, api, "Ingress", "crowd", "Ready"))

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
	if err := p.Client().Delete(ctx, namespace); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the end of the namespace", func(ctx context.Context) error {
		_, err := p.get(ctx, "", "v1", "Namespace", ns)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("the namespace still exists: %w", err)
	})
	cluster.Eventually(t, "nothing to be left of the namespace", p.nothingLeftIn(ns))
}

// allReady returns a check that fails unless the wanted number of objects is ready.
func (ob *objects) allReady(ns, kind string, want int) func(context.Context) error {
	return func(ctx context.Context) error {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(api)
		list.SetKind(kind + "List")
		if err := ob.Client().List(ctx, list, client.InNamespace(ns)); err != nil {
			return err
		}
		ready := 0
		for i := range list.Items {
			if conditionOf(&list.Items[i], "Ready")["status"] == "True" {
				ready++
			}
		}
		if ready != want {
			return fmt.Errorf("%d are ready, want %d", ready, want)
		}
		return nil
	}
}

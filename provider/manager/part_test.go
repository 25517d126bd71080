package manager_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
)

func part(w *tenant, name string) *v1alpha1.Part {
	return &v1alpha1.Part{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: v1alpha1.PartSpec{ForProvider: v1alpha1.PartParameters{
		Kind: "Model", Name: name, Template: *template(`{"sourceUrl": "hf://a/b"}`), TransientReasons: []string{"Downloading", "Registering"},
	}}}
}

// TestPartReportsNoProgress takes a Model through its life as the function does. The
// Part is written for what its owner acts on, and for nothing else.
func TestPartReportsNoProgress(t *testing.T) {
	w := newTenant(t)
	w.composites()
	c, err := client.NewWithWatch(w.cluster.Config(), client.Options{Scheme: w.client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	p := part(w, "m")
	w.create(p)
	model := w.made("Model", "m", p)
	w.eventually("the first status", func() error {
		if err := w.get(p); err != nil || p.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionTrue {
			return fmt.Errorf("the conditions are %v: %w", p.Status.Conditions, err)
		}
		return nil
	})
	seen, err := c.Watch(t.Context(), &v1alpha1.PartList{}, client.InNamespace(w.ns))
	if err != nil {
		t.Fatal(err)
	}
	if url, _, _ := unstructured.NestedString(model.Object, "spec", "sourceUrl"); url != "hf://a/b" || model.GetLabels()["a"] != "b" {
		t.Errorf("the Model is %v", model.Object)
	}
	for i, state := range []string{
		`{"progress": "fetch 10%", "conditions": [{"type": "Serving", "status": "False", "reason": "Downloading", "message": "10%"}]}`,
		`{"progress": "fetch 90%", "conditions": [{"type": "Serving", "status": "False", "reason": "Downloading", "message": "90%"}]}`,
		`{"conditions": [{"type": "Serving", "status": "False", "reason": "StorageFull", "message": "no space"}]}`,
		`{"conditions": [{"type": "Serving", "status": "False", "reason": "Registering", "message": "soon"}]}`,
		`{"artifact": {"url": "s3://b/x", "bucket": "b", "modelFile": "a.m", "tokenizerFile": "a.t", "weights": "q40", "sizeBytes": 1, "size": "1 B"}, "conditions": [{"type": "Serving", "status": "True", "reason": "Available", "message": "there"}]}`,
	} {
		w.resources.status(model, state)
		if i < 2 {
			continue
		}
		want := []string{"StorageFull", "", "serving"}[i-2]
		w.eventually(fmt.Sprintf("state %d", i), func() error {
			if err := w.get(p); err != nil {
				return err
			}
			if got := partState(p); got != want {
				return fmt.Errorf("the state is %q, want %q", got, want)
			}
			return nil
		})
	}
	if p.Status.AtProvider.Outputs == nil || !strings.Contains(string(p.Status.AtProvider.Outputs.Raw), "s3://b/x") {
		t.Errorf("the outputs are %+v", p.Status.AtProvider)
	}
	var writes []string
	for event := range seen.ResultChan() {
		if got, ok := event.Object.(*v1alpha1.Part); ok && event.Type == watch.Modified {
			writes = append(writes, partState(got))
		}
		if slices.Contains(writes, "serving") {
			break
		}
	}
	seen.Stop()
	if got, want := strings.Join(writes, ", "), "StorageFull, , serving"; got != want {
		t.Errorf("writes are %q, want %q", got, want)
	}
	w.change(p, func() { p.Spec.ForProvider.Template = *template(`{"sourceUrl": "hf://a/c"}`) })
	w.eventually("the update", func() error { return w.resources.sourceIs("m", "hf://a/c") })
	w.change(model, func() { model.Object["spec"].(map[string]any)["sourceUrl"] = "hf://not/ours" })
	w.eventually("the repair", func() error { return w.resources.sourceIs("m", "hf://a/c") })
	w.delete(p)
	w.gone(p)
	w.gone(model)
}

func partState(p *v1alpha1.Part) string {
	if p.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
		return "serving"
	}
	return p.Status.AtProvider.Reason
}

// status writes the status of a composite.
func (r *resources) status(u *unstructured.Unstructured, state string) {
	r.t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(state), &fields); err != nil {
		r.t.Fatal(err)
	}
	for _, c := range fields["conditions"].([]any) {
		c.(map[string]any)["lastTransitionTime"] = "2026-01-01T00:00:00Z"
	}
	u.Object["status"] = fields
	if err := r.client.Status().Update(r.t.Context(), u); err != nil {
		r.t.Fatal(err)
	}
}

// TestPartLeavesOthersAlone asks for a Model that exists.
func TestPartLeavesOthersAlone(t *testing.T) {
	w := newTenant(t)
	w.composites()
	other := object("Model", "m", map[string]any{"sourceUrl": "hf://c/d"})
	other.SetNamespace(w.ns)
	w.create(other)
	p := part(w, "m")
	w.create(p)
	w.resources.failing(p, "has another owner")
	w.delete(p)
	w.gone(p)
	if err := w.get(other); err != nil {
		t.Errorf("the Model of another owner: %v", err)
	}
}

// TestPartWaitsForDeletion asks for a Model whose name an earlier one has until it is gone.
func TestPartWaitsForDeletion(t *testing.T) {
	w := newTenant(t)
	w.composites()
	earlier := object("Model", "m", map[string]any{"sourceUrl": "hf://c/d"})
	earlier.SetNamespace(w.ns)
	earlier.SetFinalizers([]string{"example.org/busy"})
	w.create(earlier)
	w.delete(earlier)
	p := part(w, "m")
	w.create(p)
	w.resources.failing(p, "which is being deleted")
	w.change(earlier, func() { earlier.SetFinalizers(nil) })
	w.made("Model", "m", p)
}

func (r *resources) sourceIs(name, want string) error {
	if got, err := r.source(name); err != nil || got != want {
		return fmt.Errorf("the source is %q: %w", got, err)
	}
	return nil
}

// source returns the source of a Model; empty if there is none.
func (r *resources) source(name string) (string, error) {
	u := object("Model", name, nil)
	u.SetNamespace(r.ns)
	if err := r.get(u); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	source, _, err := unstructured.NestedString(u.Object, "spec", "sourceUrl")
	return source, err
}

func partLifecycle() lifecycle {
	const own = "TestPartReportsNoProgress does it, with the status that makes a Part ready"
	return lifecycle{
		server:   onCluster,
		given:    func(w *tenant, _ string) { w.composites() },
		resource: func(w *tenant, name string) resource.ModernManaged { return part(w, name) },
		read:     func(w *tenant, name string) (string, error) { return w.resources.source(name) },
		update: func(_ *tenant, m resource.ModernManaged) {
			m.(*v1alpha1.Part).Spec.ForProvider.Template = *template(`{"sourceUrl": "hf://a/c"}`)
		},
		skip: map[string]string{
			"create": own, "update": own, "drift": own, "delete": own,
			"import":      "there is nothing to adopt: TestPartLeavesOthersAlone has a Model of another owner",
			"outage":      "its Model is on the API server that it is itself on",
			"credentials": "it needs none but those of the provider in its cluster",
		},
	}
}

package acceptance

import (
	"context"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/crds"
	"github.com/gorizond/koldun/test/cluster"
)

// TestQuickstart goes from nothing to a URL, changes a value, sees exactly that
// in the plan, and destroys everything, on a real API server on which the test
// says what Crossplane would.
func TestQuickstart(t *testing.T) {
	tofu := mirror(t)
	c := cluster.Start(t, cluster.Options{ControlPlaneOnly: true, Manifests: manifests(t)})
	if err := c.Controllers().Restart(); err != nil { // its garbage collector knows our kinds then
		t.Fatal(err)
	}
	serve(t, c, "Dllama")
	f := tofu.Copy(t, "../../examples/terraform/quickstart", "KUBECONFIG="+c.Kubeconfig())
	if out := f.OK("apply", "-auto-approve"); !strings.Contains(out, `url = "http://koldun-tiny.default:8082/v1"`) {
		t.Errorf("apply says:\n%s", out)
	}
	if r := f.Run("plan", "-detailed-exitcode"); r.Exit != 0 {
		t.Errorf("the plan after apply is not empty:\n%s", r.Out)
	}
	out := f.OK("plan", "-var", "threads=2")
	changes := regexp.MustCompile(`(?m)^ +[~+-] .*$`).FindAllString(out, -1)
	for _, line := range changes {
		known := strings.Contains(line, "(current -> planned)") || strings.Contains(line, "threads") || strings.Contains(line, "engine") || strings.Contains(line, "koldun_dllama") ||
			strings.Contains(line, "(known after apply)") || strings.Contains(line, "url") || strings.Contains(line, "status")
		if !known {
			t.Errorf("the plan also shows %q", line)
		}
	}
	if !strings.Contains(out, "threads") || !strings.Contains(out, "0 to add, 1 to change, 0 to destroy") {
		t.Errorf("a changed value is planned as:\n%s", out)
	}
	f.OK("apply", "-auto-approve", "-var", "threads=2")
	f.OK("destroy", "-auto-approve")
	gone := &unstructured.UnstructuredList{}
	gone.SetAPIVersion("koldun.gorizond.io/v1")
	gone.SetKind("DllamaList")
	if err := c.Client().List(t.Context(), gone); err != nil || len(gone.Items) != 0 {
		t.Errorf("%d Dllamas are left, %v", len(gone.Items), err)
	}
}

func TestPlatformIsValid(t *testing.T) {
	f := mirror(t).Copy(t, "../../examples/terraform/platform", outside(t)...)
	f.OK("validate")
	f.OK("fmt", "-check", "-diff")
}

func manifests(t *testing.T) []string {
	t.Helper()
	files, err := fs.Glob(crds.Files, "koldun.gorizond.io_*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range files {
		raw, err := fs.ReadFile(crds.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(raw))
	}
	return out
}

// serve makes every object of a kind ready as soon as it changes.
func serve(t *testing.T, c *cluster.Cluster, kind string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("koldun.gorizond.io/v1")
	list.SetKind(kind + "List")
	events, err := c.Client().Watch(ctx, list)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range events.ResultChan() {
			obj, ok := e.Object.(*unstructured.Unstructured)
			if !ok || e.Type == watch.Deleted || obj.GetDeletionTimestamp() != nil {
				continue
			}
			generation := obj.GetGeneration()
			if seen, _, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration"); seen >= generation {
				continue
			}
			condition := func(kind string) any {
				return map[string]any{
					"type": kind, "status": "True", "reason": "Available", "message": "", "observedGeneration": generation,
					"lastTransitionTime": "2026-01-01T00:00:00Z",
				}
			}
			obj.SetManagedFields(nil)
			obj.SetResourceVersion("")
			obj.Object["status"] = map[string]any{
				"observedGeneration": generation, "url": "http://" + obj.GetName() + "." + obj.GetNamespace() + ":8082/v1",
				"conditions": []any{condition("Synced"), condition("Ready"), condition("Serving")},
			}
			_ = c.Client().Status().Patch(ctx, obj, client.Merge) // it may be gone by now
		}
	}()
	t.Cleanup(func() {
		events.Stop()
		cancel()
		<-done
	})
}

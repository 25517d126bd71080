package claim_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/crds"
	"github.com/gorizond/koldun/terraform-provider/internal/provider"
	"github.com/gorizond/koldun/terraform-provider/internal/providertest"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/waittest"
)

var shared = cluster.Shared{Options: cluster.Options{ControlPlaneOnly: true, Manifests: cluster.Definitions(cluster.ClaimGroup)}} //nolint:gochecknoglobals // one cluster for all tests

var collect sync.Once //nolint:gochecknoglobals // once for the shared cluster

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// A world is a provider on a real API server with a namespace of one test.
type world struct {
	*providertest.Provider
	t         *testing.T
	cluster   *cluster.Cluster
	namespace string
}

func start(t *testing.T) *world {
	t.Helper()
	c := shared.Cluster(t)
	// Make the garbage collector discover our kinds now, not half a minute later.
	collect.Do(func() {
		if err := c.Controllers().Restart(); err != nil {
			t.Fatal(err)
		}
	})
	w := &world{t: t, cluster: c, namespace: strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))}
	if len(w.namespace) > 63 {
		w.namespace = w.namespace[:63]
	}
	if err := c.Apply(t.Context(), fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", w.namespace)); err != nil {
		t.Fatal(err)
	}
	w.Provider = providertest.New(t, provider.New("test", func(string) string { return "" }), map[string]any{
		"kubernetes": map[string]any{"config_path": c.Kubeconfig(), "namespace": w.namespace},
	})
	return w
}

// get reads an object.
func (w *world) get(kind, name string) *unstructured.Unstructured {
	w.t.Helper()
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(schema.GroupVersionKind{Group: "koldun.gorizond.io", Version: "v1", Kind: kind})
	if err := w.cluster.Client().Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, obj); err != nil {
		w.t.Fatal(err)
	}
	return obj
}

// say writes conditions for a generation, as Crossplane does.
func (w *world) say(obj *unstructured.Unstructured, generation int64, ready, reason, message string) error {
	now := metav1.Now().UTC().Format("2006-01-02T15:04:05Z")
	condition := func(kind, status, why, text string) any {
		return map[string]any{"type": kind, "status": status, "reason": why, "message": text, "lastTransitionTime": now, "observedGeneration": generation}
	}
	obj = obj.DeepCopy()
	obj.SetManagedFields(nil)
	obj.SetResourceVersion("")
	status := map[string]any{
		"observedGeneration": generation,
		"conditions":         []any{condition("Synced", "True", "ReconcileSuccess", ""), condition("Ready", ready, "Available", ""), condition("Serving", ready, reason, message)},
	}
	if err := unstructured.SetNestedMap(obj.Object, status, "status"); err != nil {
		return err
	}
	return w.cluster.Client().Status().Patch(w.t.Context(), obj, client.Merge)
}

// serve makes every object of a kind ready until the test ends, as soon as it
// changes.
func (w *world) serve(kind string) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "koldun.gorizond.io", Version: "v1", Kind: kind + "List"})
	events, err := w.cluster.Client().Watch(ctx, list, client.InNamespace(w.namespace))
	if err != nil {
		cancel()
		w.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range events.ResultChan() {
			obj, ok := e.Object.(*unstructured.Unstructured)
			if !ok || e.Type == watch.Deleted || obj.GetDeletionTimestamp() != nil {
				continue
			}
			if seen, _, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration"); seen < obj.GetGeneration() {
				// An object that was deleted since needs no status.
				_ = w.say(obj, obj.GetGeneration(), "True", "Available", "")
			}
		}
	}()
	w.t.Cleanup(func() {
		events.Stop()
		cancel()
		waittest.Receive(w.t, "the watch ends", done)
	})
}

func TestDriftIsOnlyWhatIsConfigured(t *testing.T) {
	w := start(t)
	w.serve("Dllama")
	config := map[string]any{"name": "shared", "model_ref": map[string]any{"name": "m"}, "engine": map[string]any{"threads": 2}}
	r := w.Resource("koldun_dllama")
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	theirs := `{apiVersion: koldun.gorizond.io/v1, kind: Dllama, metadata: {name: shared, labels: {a: b}}, spec: {engine: {maxSeqLen: 512}, delivery: pvc}}`
	if err := w.cluster.ApplyIn(t.Context(), w.namespace, theirs); err != nil {
		t.Fatal(err)
	}
	before := r.State
	r.Refresh()
	if !r.State.Equal(before) && r.Attribute("ready") == true {
		t.Errorf("state contains fields of other managers: %v", providertest.JSON(r.State))
	}
	// Another manager takes over a field and changes it.
	obj := w.get("Dllama", "shared")
	if err := w.cluster.Client().Patch(t.Context(), obj, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"engine":{"threads":7}}}`)), client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}
	r.Refresh()
	if engine, _ := r.Attribute("engine").(map[string]any); fmt.Sprint(engine["threads"]) != "7" || engine["max_seq_len"] != nil {
		t.Errorf("engine after the change: got %v", engine)
	}
	if e := r.Apply(config); !strings.Contains(e, "somebody") || !strings.Contains(e, "threads") || !strings.Contains(e, "force_conflicts") {
		t.Errorf("conflict: got error %q", e)
	}
	config["force_conflicts"] = true
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	r.CheckStable(config)
	if n, _, _ := unstructured.NestedInt64(w.get("Dllama", "shared").Object, "spec", "engine", "maxSeqLen"); n != 512 {
		t.Errorf("field of the other manager: got %d", n)
	}
}

func TestTimeoutIsResumed(t *testing.T) {
	w := start(t)
	config := map[string]any{"name": "slow", "model_ref": map[string]any{"name": "m"}, "timeouts": map[string]any{"create": "1s", "update": "1s"}}
	r := w.Resource("koldun_dllama")
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	if r.Tainted || r.Attribute("ready") != false || !strings.Contains(r.Warnings, "not ready after 1s") {
		t.Fatalf("after the timeout: got %v with warnings %q", providertest.JSON(r.State), r.Warnings)
	}
	uid := w.get("Dllama", "slow").GetUID()
	if p := r.Plan(config); p.Empty || len(p.Replace) > 0 {
		t.Errorf("next plan: got none or a replacement: %v", providertest.JSON(p.State))
	}
	if err := w.say(w.get("Dllama", "slow"), 1, "False", "WorkersStarting", "worker-1 does not listen"); err != nil {
		t.Fatal(err)
	}
	if e := r.Apply(config); e != "" || !strings.Contains(r.Warnings, "worker-1 does not listen") {
		t.Errorf("next apply: got %q %q", e, r.Warnings)
	}
	w.serve("Dllama")
	config["timeouts"] = map[string]any{"create": "1m", "update": "1m"}
	if err := w.say(w.get("Dllama", "slow"), 0, "False", "RootStarting", ""); err != nil {
		t.Fatal(err)
	}
	if e := r.Apply(config); e != "" || r.Attribute("ready") != true {
		t.Errorf("waiting apply: got error %q and %v", e, providertest.JSON(r.State))
	}
	r.CheckStable(config)
	if now := w.get("Dllama", "slow").GetUID(); now != uid {
		t.Error("the object was created again")
	}
}

func TestTimeoutMayBeAnError(t *testing.T) {
	w := start(t)
	r := w.Resource("koldun_dllama")
	e := r.Apply(map[string]any{"name": "strict", "model_ref": map[string]any{"name": "m"}, "timeouts": map[string]any{"create": "1s"}, "wait": map[string]any{"on_timeout": "error"}})
	if !strings.Contains(e, "not ready after 1s") || !r.Tainted {
		t.Errorf("got error %q, tainted %v", e, r.Tainted)
	}
}

func TestFinalReasonEndsTheWait(t *testing.T) {
	w := start(t)
	config := map[string]any{"name": "wrong", "model_ref": map[string]any{"name": "m"}, "wait": map[string]any{"until": "none"}}
	r := w.Resource("koldun_dllama")
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	if err := w.say(w.get("Dllama", "wrong"), 1, "False", "TopologyInvalid", "3 does not divide 8 kv heads"); err != nil {
		t.Fatal(err)
	}
	delete(config, "wait")
	// The timeout is half an hour: the reason ends the wait.
	if e := r.Apply(config); !strings.Contains(e, "TopologyInvalid: 3 does not divide 8 kv heads") {
		t.Errorf("got error %q", e)
	}
}

// TestOldReadinessDoesNotCount changes a ready Dllama: conditions of the old
// generation do not end the wait.
func TestOldReadinessDoesNotCount(t *testing.T) {
	w := start(t)
	config := map[string]any{"name": "stale", "model_ref": map[string]any{"name": "m"}, "wait": map[string]any{"until": "none"}}
	r := w.Resource("koldun_dllama")
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	if err := w.say(w.get("Dllama", "stale"), 1, "True", "Available", ""); err != nil {
		t.Fatal(err)
	}
	config["wait"], config["timeouts"] = nil, map[string]any{"update": "1s"}
	config["engine"] = map[string]any{"threads": 2}
	if e := r.Apply(config); e != "" || r.Attribute("ready") != false || !strings.Contains(r.Warnings, "generation 2") {
		t.Errorf("change: got %q %q and ready %v", e, r.Warnings, r.Attribute("ready"))
	}
}

// TestKindThatIsInstalledLater removes a CRD and installs it during the wait.
func TestKindThatIsInstalledLater(t *testing.T) {
	w := start(t)
	raw, err := fs.ReadFile(crds.Files, "koldun.gorizond.io_workers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kind := &unstructured.Unstructured{}
	kind.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	kind.SetName("workers.koldun.gorizond.io")
	if err := w.cluster.Client().Delete(t.Context(), kind); err != nil {
		t.Fatal(err)
	}
	config := map[string]any{"name": "early", "image": "example/dllama:1", "wait": map[string]any{"until": "none"}}
	r := w.Resource("koldun_worker")
	cluster.Eventually(t, "the kind to be gone", func(ctx context.Context) error {
		if err := w.cluster.Client().Get(ctx, client.ObjectKeyFromObject(kind), kind); err == nil {
			return errors.New("its definition is there")
		} else if !apierrors.IsNotFound(err) {
			return err
		}
		if e := r.Apply(config); !strings.Contains(e, "workers.koldun.gorizond.io") || !strings.Contains(e, "install.yaml") {
			return fmt.Errorf("unknown kind: got error %q", e)
		}
		return nil
	})
	installed := make(chan error, 1)
	go func() { installed <- w.cluster.Apply(t.Context(), string(raw)) }()
	config["wait"] = map[string]any{"until": "none", "for_api": "1m"}
	if e := r.Apply(config); e != "" {
		t.Error(e)
	}
	if err := waittest.Receive(t, "the definitions are installed", installed); err != nil {
		t.Fatal(err)
	}
	// Make the garbage collector discover the kind again.
	if err := w.cluster.Controllers().Restart(); err != nil {
		t.Fatal(err)
	}
}

func TestDeletionWaitsUntilItIsGone(t *testing.T) {
	w := start(t)
	r := w.Resource("koldun_dllama")
	if e := r.Apply(map[string]any{"name": "held", "model_ref": map[string]any{"name": "m"}, "wait": map[string]any{"until": "none"}, "timeouts": map[string]any{"delete": "1s"}}); e != "" {
		t.Fatal(e)
	}
	finalizers := func(list string) {
		t.Helper()
		if err := w.cluster.Client().Patch(t.Context(), w.get("Dllama", "held"), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":`+list+`}}`))); err != nil {
			t.Fatal(err)
		}
	}
	finalizers(`["example.org/hold"]`)
	if e := r.Destroy(); !strings.Contains(e, "example.org/hold") || r.State.IsNull() {
		t.Errorf("deletion that does not end: got error %q and state %v", e, providertest.JSON(r.State))
	}
	finalizers(`null`)
	if e := r.Destroy(); e != "" || !r.State.IsNull() {
		t.Errorf("deletion: got error %q", e)
	}
}

// TestImportOfOthers imports what kubectl applied: the plan is empty, and an
// attribute that is removed from the configuration later leaves the object.
func TestImportOfOthers(t *testing.T) {
	w := start(t)
	w.serve("Dllama")
	config := map[string]any{"name": "theirs", "model_ref": map[string]any{"name": "m"}, "expose": map[string]any{"allow_anonymous": true}, "delivery": "fetch"}
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "koldun.gorizond.io/v1", "kind": "Dllama",
		"metadata": map[string]any{"name": "theirs", "namespace": w.namespace},
		"spec":     map[string]any{"modelRef": map[string]any{"name": "m"}, "expose": map[string]any{"allowAnonymous": true}, "delivery": "fetch"},
	}}
	if err := w.cluster.Client().Create(t.Context(), obj, client.FieldOwner("kubectl-client-side-apply")); err != nil {
		t.Fatal(err)
	}
	if e := w.Resource("koldun_dllama").Apply(config); !strings.Contains(e, "terraform import koldun_dllama.NAME") {
		t.Errorf("creation of an existing object: got error %q", e)
	}
	// The object becomes ready later; the import does not wait.
	cluster.Eventually(t, "the Dllama to be ready", func(context.Context) error {
		if seen, _, _ := unstructured.NestedInt64(w.get("Dllama", "theirs").Object, "status", "observedGeneration"); seen != 1 {
			return fmt.Errorf("observed up to generation %d", seen)
		}
		return nil
	})
	r := w.Import("koldun_dllama", w.namespace+"/theirs")
	r.CheckStable(config)
	delete(config, "delivery")
	if e := r.Apply(config); e != "" {
		t.Fatal(e)
	}
	if v, ok, _ := unstructured.NestedString(w.get("Dllama", "theirs").Object, "spec", "delivery"); ok {
		t.Errorf("removed field: got %q", v)
	}
}

func TestDataSource(t *testing.T) {
	w := start(t)
	if err := w.cluster.ApplyIn(t.Context(), w.namespace, "{apiVersion: koldun.gorizond.io/v1, kind: Dllama, metadata: {name: theirs}, spec: {modelRef: {name: m}}}"); err != nil {
		t.Fatal(err)
	}
	if err := w.say(w.get("Dllama", "theirs"), 1, "False", "RootStarting", "no token yet"); err != nil {
		t.Fatal(err)
	}
	got, e := w.Data("koldun_dllama", map[string]any{"name": "theirs"})
	engine, _ := got["engine"].(map[string]any)
	status, _ := got["status"].(map[string]any)
	conditions, _ := status["conditions"].([]any)
	if e != "" || got["ready"] != false || got["reason"] != "RootStarting: no token yet" || fmt.Sprint(engine["threads"]) != "1" || len(conditions) != 3 {
		t.Errorf("got %v %s", got, e)
	}
	if _, e := w.Data("koldun_dllama", map[string]any{"name": "none"}); !strings.Contains(e, "not found") {
		t.Errorf("read of a missing object: got error %q", e)
	}
}

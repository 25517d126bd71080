package e2e_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// A recorder records all objects that ever existed, and their changes.
type recorder struct {
	mu      sync.Mutex
	seen    map[string]*unstructured.Unstructured // by identity
	changes []string                              // identities
}

func record(t *testing.T, cfg *rest.Config, resources ...[]schema.GroupVersionResource) *recorder {
	t.Helper()
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{seen: map[string]*unstructured.Unstructured{}}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	for _, list := range resources {
		for _, gvr := range list {
			if _, err := factory.ForResource(gvr).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc:    r.note,
				UpdateFunc: func(_, obj any) { r.note(obj) },
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(func() {
		stop()
		factory.Shutdown()
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return r
}

func (r *recorder) note(obj any) {
	o, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := identity(o)
	r.seen[key] = o
	r.changes = append(r.changes, key)
}

// identity returns a key of an object that is unique over time.
func identity(o *unstructured.Unstructured) string {
	return o.GroupVersionKind().GroupKind().String() + " " + o.GetNamespace() + "/" + o.GetName()
}

// composed returns all objects that composites and Parts ever created in the namespace, by
// identity.
func (r *recorder) composed(namespace string) map[string]*unstructured.Unstructured {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[string]*unstructured.Unstructured{}
	for key, o := range r.seen {
		owner := metav1.GetControllerOf(o)
		if o.GetNamespace() == namespace && owner != nil && (owner.APIVersion == api || owner.Kind == "Part") {
			out[key] = o
		}
	}
	return out
}

// changed returns all changes so far of objects whose identity contains the text.
func (r *recorder) changed(text string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, key := range r.changes {
		if strings.Contains(key, text) {
			out = append(out, key)
		}
	}
	return out
}

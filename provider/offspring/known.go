package offspring

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	composite "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/wake"
)

// Kinds are those of which there may be objects to keep.
func Kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		composite.GroupVersion.WithKind(composite.KindSession),
		composite.GroupVersion.WithKind(composite.KindDllama),
	}
}

// known are the objects that are watched. Safe for concurrent use.
type known struct {
	board *wake.Board

	mu      sync.Mutex
	watched map[string]watch           // by kind
	missed  map[string]map[string]bool // namespaces that were asked for in vain, by kind
}

type watch struct {
	from   client.Reader
	synced func() bool
}

func newKnown(board *wake.Board) *known {
	return &known{board: board, watched: map[string]watch{}, missed: map[string]map[string]bool{}}
}

// Watch the objects of a kind, which is served, until ctx ends. It does not
// block.
func (k *Keeper) Watch(ctx context.Context, from cache.Cache, kind schema.GroupVersionKind) error {
	of := &unstructured.Unstructured{}
	of.SetGroupVersionKind(kind)
	informer, err := from.GetInformer(ctx, of, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("cannot watch %s: %w", kind.Kind, err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { k.known.see(nil, obj) },
		UpdateFunc: func(before, after any) {
			if !reflect.DeepEqual(digest(before), digest(after)) {
				k.known.see(before, after)
			}
		},
		DeleteFunc: func(obj any) {
			if d, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
				obj = d.Obj
			}
			k.known.see(obj, nil)
		},
	})
	if err != nil {
		return fmt.Errorf("cannot watch %s: %w", kind.Kind, err)
	}
	k.known.mu.Lock()
	k.known.watched[kind.Kind] = watch{from: from, synced: informer.HasSynced}
	k.known.mu.Unlock()
	go func() { // ends with ctx, or when the objects are known
		if toolscache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			k.known.found(kind.Kind)
		}
	}()
	return nil
}

// miss notes that somebody waits for the objects of a kind.
func (k *known) miss(kind, namespace string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.missed[kind] == nil {
		k.missed[kind] = map[string]bool{}
	}
	k.missed[kind][namespace] = true
}

// found wakes those who wait.
func (k *known) found(kind string) {
	k.mu.Lock()
	namespaces := k.missed[kind]
	delete(k.missed, kind)
	k.mu.Unlock()
	for ns := range namespaces {
		k.board.Changed(othersKey(kind, ns))
	}
}

// see wakes those whom a change of an object concerns.
func (k *known) see(before, after any) {
	for _, obj := range []any{before, after} {
		u, ok := obj.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		owner := metav1.GetControllerOf(u)
		if owner == nil || owner.APIVersion != v1alpha1.APIVersion {
			k.board.Changed(othersKey(u.GetKind(), u.GetNamespace()))
			continue
		}
		k.board.Wake(wake.Key{Kind: owner.Kind, NamespacedName: types.NamespacedName{Namespace: u.GetNamespace(), Name: owner.Name}})
		if before == nil || after == nil { // another resource may have waited for it
			k.board.Changed(othersKey(u.GetKind(), u.GetNamespace()))
		}
	}
}

// othersKey stands for all objects of a kind in a namespace.
func othersKey(kind, namespace string) wake.Key {
	return wake.Key{Kind: "all " + kind, NamespacedName: types.NamespacedName{Namespace: namespace}}
}

// digest is what of an object concerns others.
func digest(obj any) any {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	status, _ := u.Object["status"].(map[string]any)
	out := []any{u.GetGeneration(), u.GetLabels(), u.GetAnnotations(), u.GetOwnerReferences(), u.GetDeletionTimestamp() != nil, status["key"], status["readyWorkers"]}
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Serving" {
			out = append(out, c["status"], c["reason"], c["message"])
		}
	}
	return out
}

// list the objects of a kind in a namespace. They are those of the cache, and
// not to be changed.
func (k *known) list(ctx context.Context, kind, namespace string) ([]unstructured.Unstructured, error) {
	k.mu.Lock()
	w, ok := k.watched[kind]
	k.mu.Unlock()
	if !ok {
		k.miss(kind, namespace)
		return nil, fault.Errorf(fault.Transient, "cannot list kind %s: the API server does not serve it; install Koldun's Configuration", kind)
	}
	if !w.synced() {
		k.miss(kind, namespace)
	}
	if !w.synced() { // once more: it may have been before somebody was known to wait
		return nil, fault.Errorf(fault.Transient, "cannot list kind %s yet; if this lasts, give the provider the rights that package/install.yaml does", kind)
	}
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(composite.GroupVersion.WithKind(kind + "List"))
	if err := w.from.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fault.Errorf(fault.Transient, "cannot list kind %s: %w", kind, err)
	}
	return list.Items, nil
}

package dependents

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	composite "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external/part"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/requeue"
)

// settle is the time until a Part reports a change: Crossplane writes the status of a
// composite first and then its conditions, and each report is an event for the composite
// above.
const settle = 100 * time.Millisecond

// starting is the time, from the first listing of a kind on, for which listings wait
// until the kind is synced. Without it, a provider that starts would report an error for
// each resource with dependents, and correct it at once.
const starting = 3 * time.Second

// Kinds returns the kinds of all dependents.
func Kinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		composite.GroupVersion.WithKind(composite.KindSession),
		composite.GroupVersion.WithKind(composite.KindDllama),
		composite.GroupVersion.WithKind(composite.KindModel),
		composite.GroupVersion.WithKind(composite.KindIngress),
	}
}

// known reads the watched objects. It is safe for concurrent use.
type known struct {
	tracker *requeue.Tracker

	mu      sync.Mutex
	watched map[string]watch           // by kind
	missed  map[string]map[string]bool // namespaces that were listed before the kind was synced, by kind
	starts  map[string]*start          // by kind
}

// A start is the time in which listings of a kind wait.
type start struct {
	synced chan struct{} // closed when the kind is synced
	until  time.Time     // zero before the first listing
}

type watch struct {
	from   client.Reader
	synced func() bool
}

func newKnown(tracker *requeue.Tracker) *known {
	return &known{tracker: tracker, watched: map[string]watch{}, missed: map[string]map[string]bool{}, starts: map[string]*start{}}
}

// Watch starts to watch the objects of a kind, which the API server must serve,
// until ctx ends. It does not block. It may succeed only once for each kind.
func (a *Applier) Watch(ctx context.Context, from cache.Cache, kind schema.GroupVersionKind) error {
	of := &unstructured.Unstructured{}
	of.SetGroupVersionKind(kind)
	informer, err := from.GetInformer(ctx, of, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("cannot watch %s: %w", kind.Kind, err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { a.known.see(nil, obj) },
		UpdateFunc: func(before, after any) {
			if !reflect.DeepEqual(digest(before), digest(after)) {
				a.known.see(before, after)
			}
		},
		DeleteFunc: func(obj any) {
			if d, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
				obj = d.Obj
			}
			a.known.see(obj, nil)
		},
	})
	if err != nil {
		return fmt.Errorf("cannot watch %s: %w", kind.Kind, err)
	}
	a.known.mu.Lock()
	a.known.watched[kind.Kind] = watch{from: from, synced: informer.HasSynced}
	a.known.mu.Unlock()
	go func() { // ends with ctx, or when the cache has synced
		if toolscache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			a.known.found(kind.Kind)
		}
	}()
	return nil
}

// miss records that resources of a namespace wait for the objects of a kind.
func (k *known) miss(kind, namespace string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.missed[kind] == nil {
		k.missed[kind] = map[string]bool{}
	}
	k.missed[kind][namespace] = true
}

// start returns the start of a kind. The caller holds the lock.
func (k *known) start(kind string) *start {
	if k.starts[kind] == nil {
		k.starts[kind] = &start{synced: make(chan struct{})}
	}
	return k.starts[kind]
}

// await waits until a kind is synced, ctx ends, or the kind has had its time to start. A
// kind that is never served must not delay each reconcile.
func (k *known) await(ctx context.Context, kind string) {
	k.mu.Lock()
	s := k.start(kind)
	if s.until.IsZero() {
		s.until = time.Now().Add(starting)
	}
	synced, until := s.synced, s.until
	k.mu.Unlock()
	ctx, stop := context.WithDeadline(ctx, until)
	defer stop()
	select {
	case <-synced:
	case <-ctx.Done():
	}
}

// found enqueues the resources that wait for a kind.
func (k *known) found(kind string) {
	k.mu.Lock()
	close(k.start(kind).synced)
	namespaces := k.missed[kind]
	delete(k.missed, kind)
	k.mu.Unlock()
	for ns := range namespaces {
		k.tracker.Changed(othersKey(kind, ns))
	}
}

// see enqueues the resources that a change of an object affects.
func (k *known) see(before, after any) {
	for _, obj := range []any{before, after} {
		u, ok := obj.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		owner := metav1.GetControllerOf(u)
		if owner == nil || owner.APIVersion != v1alpha1.APIVersion {
			k.tracker.Changed(othersKey(u.GetKind(), u.GetNamespace()))
			continue
		}
		wait := time.Duration(0)
		if owner.Kind == v1alpha1.KindPart && before != nil && after != nil {
			wait = settle
		}
		k.tracker.EnqueueAfter(wait, requeue.Key{Kind: owner.Kind, NamespacedName: types.NamespacedName{Namespace: u.GetNamespace(), Name: owner.Name}})
		if before == nil || after == nil { // another resource may wait for its name
			k.tracker.Changed(othersKey(u.GetKind(), u.GetNamespace()))
		}
	}
}

// othersKey stands for all objects of a kind in a namespace.
func othersKey(kind, namespace string) requeue.Key {
	return requeue.Key{Kind: "all " + kind, NamespacedName: types.NamespacedName{Namespace: namespace}}
}

// digest returns the fields of an object whose changes are noticed.
func digest(obj any) any {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil
	}
	status, _ := u.Object["status"].(map[string]any)
	out := []any{u.GetGeneration(), u.GetLabels(), u.GetAnnotations(), u.GetOwnerReferences(), u.GetDeletionTimestamp() != nil, status["key"], status["readyWorkers"]}
	for _, name := range part.Outputs() {
		out = append(out, status[name])
	}
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Serving" {
			out = append(out, c["status"], c["reason"], c["message"])
		}
	}
	return out
}

// list returns the objects of a kind in a namespace. They belong to the cache and
// must not be changed.
func (k *known) list(ctx context.Context, kind, namespace string) ([]unstructured.Unstructured, error) {
	k.await(ctx, kind)
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
	if !w.synced() { // again: it may have synced just before miss
		return nil, fault.Errorf(fault.Transient, "cannot list kind %s yet; if this lasts, give the provider the rights that package/install.yaml does", kind)
	}
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(composite.GroupVersion.WithKind(kind + "List"))
	if err := w.from.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fault.Errorf(fault.Transient, "cannot list kind %s: %w", kind, err)
	}
	return list.Items, nil
}

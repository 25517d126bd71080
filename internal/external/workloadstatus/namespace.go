package workloadstatus

import (
	"context"
	"fmt"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/gorizond/koldun/internal/external/feed"
	"github.com/gorizond/koldun/internal/external/workloadstatus/diagnose"
	"github.com/gorizond/koldun/internal/fault"
)

// A namespace holds what is watched in one namespace, while its feed has followers.
type namespace struct {
	name    string
	clients kubernetes.Interface
	feed    *feed.Feed
	evicted evictions

	mu     sync.Mutex
	stores *stores // nil until the first lists are complete
	err    error   // of the last list or watch before that
}

func newNamespace(clients kubernetes.Interface, name string) *namespace {
	n := &namespace{name: name, clients: clients}
	n.feed = feed.New(n.follow)
	return n
}

// stores are the objects of the namespace.
type stores struct{ pods, events, sets, deployments, jobs cache.Store }

// follow watches the namespace until ctx ends.
func (n *namespace) follow(ctx context.Context, tell func(topic string)) {
	all := informers.NewSharedInformerFactoryWithOptions(n.clients, 0, informers.WithNamespace(n.name), informers.WithTransform(slim))
	warnings := informers.NewSharedInformerFactoryWithOptions(n.clients, 0, informers.WithNamespace(n.name), informers.WithTransform(slim),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("type", corev1.EventTypeWarning).String()
		}))
	pods, events := all.Core().V1().Pods().Informer(), warnings.Core().V1().Events().Informer()
	sets, deployments, jobs := all.Apps().V1().StatefulSets().Informer(), all.Apps().V1().Deployments().Informer(), all.Batch().V1().Jobs().Informer()
	news := func(obj any) {
		n.evicted.note(time.Now(), obj)
		tell(feed.Everyone)
	}
	for _, i := range []cache.SharedIndexInformer{pods, events, sets, deployments, jobs} {
		// Neither can fail before the informer runs.
		_ = i.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
			cache.DefaultWatchErrorHandler(ctx, r, err)
			n.set(nil, err)
			tell(feed.Everyone)
		})
		_, _ = i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    news,
			UpdateFunc: func(_, now any) { news(now) },
			DeleteFunc: news,
		})
	}
	all.Start(ctx.Done())
	warnings.Start(ctx.Done())
	all.WaitForCacheSync(ctx.Done())
	warnings.WaitForCacheSync(ctx.Done())
	if ctx.Err() == nil {
		n.set(&stores{pods.GetStore(), events.GetStore(), sets.GetStore(), deployments.GetStore(), jobs.GetStore()}, nil)
		tell(feed.Everyone)
		<-ctx.Done()
	}
	all.Shutdown()
	warnings.Shutdown()
	n.mu.Lock()
	n.stores, n.err = nil, nil
	n.mu.Unlock()
}

// set records that all objects are there, or an error before that. Watches that fail
// later are repeated: what is there stays.
func (n *namespace) set(s *stores, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s != nil {
		n.stores, n.err = s, nil
	}
	if n.stores == nil {
		n.err = err
	}
}

// scene returns what belongs to pods with the labels; nil if it is not known yet.
// Errors: Denied, Transient.
func (n *namespace) scene(of labels.Selector) (*diagnose.Scene, error) {
	n.mu.Lock()
	stores, err := n.stores, n.err
	n.mu.Unlock()
	if stores == nil {
		return nil, n.failed(err)
	}
	events := selected[*corev1.Event](stores.events, labels.Everything())
	return &diagnose.Scene{
		Pods:         selected[*corev1.Pod](stores.pods, of),
		StatefulSets: selected[*appsv1.StatefulSet](stores.sets, of),
		Deployments:  selected[*appsv1.Deployment](stores.deployments, of),
		Jobs:         selected[*batchv1.Job](stores.jobs, of),
		Events:       append(events, n.evicted.missing(time.Now(), events)...),
	}, nil
}

// pods returns the pods with the labels; none if they are not known yet.
func (n *namespace) pods(of labels.Selector) []*corev1.Pod {
	n.mu.Lock()
	stores := n.stores
	n.mu.Unlock()
	if stores == nil {
		return nil
	}
	return selected[*corev1.Pod](stores.pods, of)
}

func (n *namespace) failed(err error) error {
	if err == nil {
		return nil
	}
	kind := fault.Transient
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) {
		kind = fault.Denied
	}
	return fault.As(kind, fmt.Errorf("cannot watch the pods of namespace %q: %w", n.name, err))
}

func selected[T metav1.Object](store cache.Store, of labels.Selector) []T {
	var out []T
	for _, o := range store.List() {
		if one, ok := o.(T); ok && of.Matches(labels.Set(one.GetLabels())) {
			out = append(out, one)
		}
	}
	return out
}

// slim drops what no diagnosis reads.
func slim(obj any) (any, error) {
	m, ok := obj.(metav1.Object)
	if !ok {
		return obj, nil
	}
	m.SetManagedFields(nil)
	m.SetAnnotations(nil)
	if p, ok := obj.(*corev1.Pod); ok {
		for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
			for i := range list {
				list[i] = corev1.Container{Name: list[i].Name, Image: list[i].Image, Command: list[i].Command, Resources: list[i].Resources, Ports: list[i].Ports}
			}
		}
	}
	return obj, nil
}

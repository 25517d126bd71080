package workloadstatus

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/gorizond/koldun/internal/external/feed"
)

const (
	// countEvery is the interval in which the pods of nodes are counted for pods that
	// do not exist yet.
	countEvery   = time.Minute
	countTimeout = 5 * time.Second
)

// A cluster holds the nodes, while its feed has followers.
type cluster struct {
	clients kubernetes.Interface
	feed    *feed.Feed

	mu    sync.Mutex
	store cache.Store // nil until the first list is complete
}

func newCluster(clients kubernetes.Interface) *cluster {
	c := &cluster{clients: clients}
	c.feed = feed.New(c.follow)
	return c
}

// follow watches the nodes until ctx ends. Without the right to, it finds none, and
// nothing is known of the room on them.
func (c *cluster) follow(ctx context.Context, tell func(topic string)) {
	all := informers.NewSharedInformerFactoryWithOptions(c.clients, 0, informers.WithTransform(slimNode))
	nodes := all.Core().V1().Nodes().Informer()
	// It cannot fail before the informer runs.
	_, _ = nodes.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { tell(feed.Everyone) },
		UpdateFunc: func(before, now any) {
			if !sameRoom(before, now) { // kubelets write often
				tell(feed.Everyone)
			}
		},
		DeleteFunc: func(any) { tell(feed.Everyone) },
	})
	all.Start(ctx.Done())
	all.WaitForCacheSync(ctx.Done())
	if ctx.Err() == nil {
		c.set(nodes.GetStore())
		tell(feed.Everyone)
		<-ctx.Done()
	}
	all.Shutdown()
	c.set(nil)
}

func (c *cluster) set(store cache.Store) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.store = store
}

// nodes returns the nodes; none if they are not known yet.
func (c *cluster) nodes() []*corev1.Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.store == nil {
		return nil
	}
	var out []*corev1.Node
	for _, o := range c.store.List() {
		if n, ok := o.(*corev1.Node); ok {
			out = append(out, n)
		}
	}
	return out
}

// used returns what the pods on each node request; nil if that cannot be read.
func (c *cluster) used(ctx context.Context, nodes []string) map[string]corev1.ResourceList {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	out := map[string]corev1.ResourceList{}
	for _, node := range nodes {
		// Version 0 is of the cache of the API server, which finds pods by their nodes.
		pods, err := c.clients.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
			ResourceVersion: "0", FieldSelector: fields.OneTermEqualSelector("spec.nodeName", node).String(),
		})
		if err != nil {
			return nil
		}
		out[node] = requestsOf(pods.Items)
	}
	return out
}

// requestsOf adds up what pods request that have not ended.
func requestsOf(pods []corev1.Pod) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, p := range pods {
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		for _, c := range p.Spec.Containers {
			for name, request := range c.Resources.Requests {
				sum := out[name]
				sum.Add(request)
				out[name] = sum
			}
		}
	}
	return out
}

// sameRoom reports whether two versions of a node decide alike about pods.
func sameRoom(before, now any) bool {
	a, _ := before.(*corev1.Node)
	b, _ := now.(*corev1.Node)
	return a != nil && b != nil && maps.Equal(a.Labels, b.Labels) && equality.Semantic.DeepEqual(a.Spec.Taints, b.Spec.Taints) &&
		equality.Semantic.DeepEqual(a.Status.Allocatable, b.Status.Allocatable)
}

// slimNode drops what no diagnosis reads.
func slimNode(obj any) (any, error) {
	n, ok := obj.(*corev1.Node)
	if !ok {
		return obj, nil
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: n.UID, ResourceVersion: n.ResourceVersion, Labels: maps.Clone(n.Labels)},
		Spec:       corev1.NodeSpec{Taints: n.Spec.Taints},
		Status:     corev1.NodeStatus{Allocatable: n.Status.Allocatable},
	}, nil
}

// A counter counts what is used of the candidates for planned pods, at intervals.
type counter struct {
	cluster *cluster
	of      []string
	used    map[string]corev1.ResourceList
	at      time.Time
}

// count returns what is used of the nodes, and after which time to count again; 0 is
// when other nodes are candidates.
func (c *counter) count(ctx context.Context, now time.Time, nodes []string) (used map[string]corev1.ResourceList, again time.Duration) {
	if len(nodes) == 0 {
		c.of, c.used = nil, nil
		return nil, 0
	}
	if left := countEvery - now.Sub(c.at); left > 0 && slices.Equal(nodes, c.of) {
		return c.used, left
	}
	c.of, c.used, c.at = nodes, c.cluster.used(ctx, nodes), now
	return c.used, countEvery
}

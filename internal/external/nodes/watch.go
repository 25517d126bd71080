package nodes

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/gorizond/koldun/internal/external/feed"
)

// Watch calls changed at once, for what came between the last look and now, and
// when nodes come and go and when what rules read of them changes, until ctx ends;
// it returns nil then. Heartbeats of nodes change none of it. One watch serves all
// callers. changed should not block for long.
func (c *Client) Watch(ctx context.Context, _ Spec, changed func()) error {
	news, stop := c.feed.Follow(feed.Everyone)
	defer stop()
	changed()
	feed.Each(ctx, news, changed)
	return nil
}

// follow watches the nodes. Of each, only what rules read is kept.
func (c *Client) follow(ctx context.Context, tell func(topic string)) {
	_, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return c.nodes.List(ctx, o)
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return c.nodes.Watch(ctx, o)
			},
		},
		ObjectType: &corev1.Node{},
		Transform:  readable,
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { tell(feed.Everyone) },
			UpdateFunc: func(before, after any) {
				a, ok1 := before.(*corev1.Node)
				b, ok2 := after.(*corev1.Node)
				if !ok1 || !ok2 || !alike(a, b) {
					tell(feed.Everyone)
				}
			},
			DeleteFunc: func(any) { tell(feed.Everyone) },
		},
	})
	informer.RunWithContext(ctx)
}

func readable(obj any) (any, error) {
	node, ok := obj.(*corev1.Node)
	if !ok {
		return obj, nil
	}
	slim := &corev1.Node{}
	slim.Name, slim.UID, slim.ResourceVersion, slim.Labels = node.Name, node.UID, node.ResourceVersion, node.Labels
	slim.Status.Capacity, slim.Status.NodeInfo = node.Status.Capacity, node.Status.NodeInfo
	return slim, nil
}

// alike reports whether rules read the same of two nodes.
func alike(a, b *corev1.Node) bool {
	return maps.Equal(a.Labels, b.Labels) && maps.Equal(infoOf(a), infoOf(b)) &&
		maps.EqualFunc(a.Status.Capacity, b.Status.Capacity, func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
}

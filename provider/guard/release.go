package guard

import (
	"context"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/provider/connpool"
	"github.com/gorizond/koldun/provider/requeue"
)

type queue = workqueue.TypedRateLimitingInterface[requeue.Key]

// Setup adds the controller that takes finalizers off.
func (g *Guard) Setup(mgr manager.Manager) error {
	return builder.TypedControllerManagedBy[requeue.Key](mgr).
		Named("guard").
		WatchesRawSource(source.TypedFunc[requeue.Key](func(_ context.Context, q queue) error {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.queue = q
			return nil
		})).
		Complete(reconcile.TypedFunc[requeue.Key](g.reconcile))
}

// Check whether objects still have to be kept; what is none that is ever kept is
// left out. It does not block.
func (g *Guard) Check(keys ...requeue.Key) {
	g.mu.Lock()
	q := g.queue
	g.mu.Unlock()
	if q == nil {
		return
	}
	for _, k := range keys {
		switch k.Kind {
		case connpool.KindSecret, v1alpha1.KindProviderConfig, v1alpha1.KindClusterProviderConfig:
			q.Add(k)
		}
	}
}

// reconcile removes the finalizer from an object that no managed resource needs.
func (g *Guard) reconcile(ctx context.Context, key requeue.Key) (reconcile.Result, error) {
	obj, err := g.get(ctx, key)
	if err != nil || !Kept(obj) {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	needed, err := g.needed(ctx, key)
	if err != nil || needed {
		return reconcile.Result{}, err
	}
	without := slices.DeleteFunc(slices.Clone(obj.GetFinalizers()), func(f string) bool { return f == Finalizer })
	if err := client.IgnoreNotFound(g.patch(ctx, obj, without)); err != nil {
		return reconcile.Result{}, err
	}
	// A resource keeps all Secrets of its configuration, and has read some of them.
	if c, ok := configOf(obj); ok {
		for _, s := range c.Secrets() {
			g.Check(requeue.Key{Kind: connpool.KindSecret, NamespacedName: s})
		}
	}
	return reconcile.Result{}, nil
}

// needed reports whether a managed resource needs an object for its deletion.
func (g *Guard) needed(ctx context.Context, key requeue.Key) (bool, error) {
	users, err := g.usersOf(ctx, key)
	if err != nil || len(users) == 0 {
		return false, err
	}
	// The cache is fast, and enough to keep an object. To let it go the API
	// server is asked: what is let go too early cannot be had back.
	used, err := g.used(ctx, g.cached, users, client.UnsafeDisableDeepCopy)
	if err != nil || used {
		return used, err
	}
	return g.used(ctx, g.live, users)
}

// usersOf are the configurations that lead to an object: those that name a
// Secret, or a configuration itself and those that leave a part to it.
func (g *Guard) usersOf(ctx context.Context, key requeue.Key) ([]requeue.Key, error) {
	configs, err := g.configs(ctx)
	if err != nil {
		return nil, err
	}
	var out []requeue.Key
	byDefault := false
	for _, c := range configs {
		if c.Key == key || key.Kind == connpool.KindSecret && slices.Contains(c.Secrets(), key.NamespacedName) {
			out = append(out, c.Key)
			byDefault = byDefault || c.Key == connpool.DefaultKey()
		}
	}
	for _, c := range configs {
		if byDefault && !c.Complete() && !slices.Contains(out, c.Key) {
			out = append(out, c.Key)
		}
	}
	return out, nil
}

func (g *Guard) configs(ctx context.Context) ([]connpool.Config, error) {
	var local v1alpha1.ProviderConfigList
	if err := g.cached.List(ctx, &local); err != nil {
		return nil, err
	}
	var cluster v1alpha1.ClusterProviderConfigList
	if err := g.cached.List(ctx, &cluster); err != nil {
		return nil, err
	}
	var out []connpool.Config
	for i := range local.Items {
		c, _ := configOf(&local.Items[i])
		out = append(out, c)
	}
	for i := range cluster.Items {
		c, _ := configOf(&cluster.Items[i])
		out = append(out, c)
	}
	return out, nil
}

// configOf returns what an object configures; ok is false if it is no configuration.
func configOf(obj client.Object) (c connpool.Config, ok bool) {
	switch p := obj.(type) {
	case *v1alpha1.ProviderConfig:
		return connpool.Config{Key: keyFor(v1alpha1.KindProviderConfig, p.Namespace, p.Name), Spec: p.Spec}, true
	case *v1alpha1.ClusterProviderConfig:
		return connpool.Config{Key: keyFor(v1alpha1.KindClusterProviderConfig, "", p.Name), Spec: p.Spec.ProviderConfigSpec}, true
	}
	return connpool.Config{}, false
}

// used reports whether a managed resource that deletes something refers to one
// of the configurations.
func (g *Guard) used(ctx context.Context, reader client.Reader, configs []requeue.Key, opts ...client.ListOption) (bool, error) {
	if ns := configs[0].Namespace; !slices.ContainsFunc(configs, func(k requeue.Key) bool { return k.Namespace != ns }) {
		opts = append(opts, client.InNamespace(ns))
	}
	for _, kind := range g.kinds {
		obj, err := g.cached.Scheme().New(v1alpha1.GroupVersion.WithKind(kind + "List"))
		if err != nil {
			return false, err
		}
		list, ok := obj.(client.ObjectList)
		if !ok {
			continue
		}
		err = reader.List(ctx, list, opts...)
		if apimeta.IsNoMatchError(err) || runtime.IsNotRegisteredError(err) {
			continue // its CRD is not installed
		}
		if err != nil {
			return false, err
		}
		found := false
		err = apimeta.EachListItem(list, func(o runtime.Object) error {
			m, ok := o.(resource.ModernManaged)
			found = found || ok && needs(m) && slices.Contains(configs, connpool.KeyOf(m.GetNamespace(), m.GetProviderConfigReference()))
			return nil
		})
		if err != nil || found {
			return found, err
		}
	}
	return false, nil
}

// needs reports whether a managed resource has something to delete, or may
// have soon.
func needs(m resource.ModernManaged) bool {
	if !deletes(m) {
		return false
	}
	return m.GetDeletionTimestamp() == nil || slices.Contains(m.GetFinalizers(), managed.FinalizerName)
}

func keyFor(kind, namespace, name string) requeue.Key {
	return requeue.Key{Kind: kind, NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

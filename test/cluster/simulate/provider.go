package simulate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// An Observation is what the provider observes of an external resource.
type Observation struct {
	// Unready is why the external resource is not ready; empty if it is.
	Unready string
	// AtProvider replaces status.atProvider, if it is not nil. It is encoded as
	// JSON.
	AtProvider any
	// Connection is the content of the connection Secret.
	Connection map[string]string
}

// A Provider simulates a provider for the managed resources of a group, one write of
// one resource at a time. The CRDs must exist before it starts.
type Provider struct {
	// Group of the resources, such as koldun.m.gorizond.io.
	Group string

	// Observe returns the observation of a resource, and is called repeatedly. Nil
	// makes all resources ready without any observed fields.
	Observe func(*unstructured.Unstructured) Observation

	// Pace is the pause after each write.
	Pace time.Duration
}

// Run runs the provider until ctx ends.
func (p Provider) Run(ctx context.Context, cfg *rest.Config) error {
	client, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("cannot make client of the provider: %w", err)
	}
	resources, err := p.resources(ctx, client)
	if err != nil {
		return err
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	queue := workqueue.NewTypedDelayingQueue[item]()
	listers := map[schema.GroupVersionResource]cache.GenericLister{}
	for _, r := range resources {
		informer := factory.ForResource(r)
		listers[r] = informer.Lister()
		add := func(obj any) {
			if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
				queue.Add(item{resource: r, key: key})
			}
		}
		handler := cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }}
		if _, err := informer.Informer().AddEventHandler(handler); err != nil {
			return fmt.Errorf("cannot watch %s: %w", r.Resource, err)
		}
	}
	stop := context.AfterFunc(ctx, queue.ShutDown)
	defer stop()
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	factory.WaitForCacheSync(ctx.Done())
	for {
		i, closing := queue.Get()
		if closing {
			return nil
		}
		obj, err := listers[i.resource].Get(i.key)
		if err == nil {
			if err := p.step(ctx, client, i.resource, obj.(*unstructured.Unstructured).DeepCopy()); err != nil {
				queue.AddAfter(i, again)
			}
		}
		queue.Done(i)
	}
}

// An item identifies one managed resource.
type item struct {
	resource schema.GroupVersionResource
	key      string // namespace/name
}

// crds are the definitions of all custom resources.
func crds() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
}

// resources returns the resources of the group that the provider manages. It reads
// the CRDs, because discovery lists a new one only some time after it is established.
func (p Provider) resources(ctx context.Context, client dynamic.Interface) ([]schema.GroupVersionResource, error) {
	list, err := client.Resource(crds()).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("cannot list CRDs of group %q: %w", p.Group, err)
	}
	var out []schema.GroupVersionResource
	for _, crd := range list.Items {
		group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
		plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		if group != p.Group || strings.Contains(plural, "providerconfig") {
			continue
		}
		for _, v := range versions {
			if m, ok := v.(map[string]any); ok && m["storage"] == true {
				name, _ := m["name"].(string)
				out = append(out, schema.GroupVersionResource{Group: group, Version: name, Resource: plural})
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("cannot simulate the provider: group %q has no CRDs", p.Group)
	}
	return out, nil
}

// step does the next write that the resource needs. An error requests a retry.
func (p Provider) step(ctx context.Context, client dynamic.Interface, r schema.GroupVersionResource, obj *unstructured.Unstructured) error {
	api := client.Resource(r).Namespace(obj.GetNamespace())
	before := obj.DeepCopy()
	if prepare(obj) {
		_, err := api.Update(ctx, obj, metav1.UpdateOptions{})
		return p.wrote(ctx, err)
	}
	if obj.GetDeletionTimestamp() != nil {
		return nil
	}
	seen := Observation{}
	if p.Observe != nil {
		seen = p.Observe(before)
	}
	if err := setStatus(obj, seen); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(before.Object["status"], obj.Object["status"]) {
		if p.Observe == nil {
			return nil
		}
		return errAgain
	}
	// Before the status, not at every look: a resource is looked at four times a second.
	if err := connect(ctx, client, obj, seen.Connection); err != nil {
		return err
	}
	_, err := api.UpdateStatus(ctx, obj, metav1.UpdateOptions{})
	return p.wrote(ctx, err)
}

func (p Provider) wrote(ctx context.Context, err error) error {
	pause(ctx, p.Pace)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // the change enqueued the resource
	}
	return err
}

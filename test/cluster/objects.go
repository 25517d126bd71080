package cluster

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Objects returns the objects of all kinds in a namespace as "KIND NAME", except events.
func (ob *objects) Objects(ctx context.Context, namespace string) (map[string]bool, error) {
	d, err := discovery.NewDiscoveryClientForConfig(ob.Config())
	if err != nil {
		return nil, err
	}
	groups, err := d.ServerPreferredNamespacedResources()
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, group := range groups {
		for _, r := range group.APIResources {
			if r.Kind == "Event" || !slices.Contains(r.Verbs, "list") {
				continue
			}
			list := &metav1.PartialObjectMetadataList{}
			list.APIVersion, list.Kind = group.GroupVersion, r.Kind+"List"
			if err := ob.client.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return nil, err
			}
			for _, o := range list.Items {
				found[r.Kind+" "+o.Name] = true
			}
		}
	}
	return found, nil
}

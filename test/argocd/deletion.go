package argocd

import (
	"context"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deletes tests that the finalizer of the Application deletes all that it made.
func (s *story) deletes() {
	ctx := s.t.Context()
	app, err := s.Application(ctx, appName)
	s.must(err)
	began := time.Now()
	s.must(s.Client().Delete(ctx, object("argoproj.io/v1alpha1", "Application", Namespace, appName)))
	s.tell("The Application is deleted.")
	s.gone(object("argoproj.io/v1alpha1", "Application", Namespace, appName))
	s.tell("It is gone after %s.", since(began))
	for _, r := range app.Status.Resources {
		s.gone(object(strings.TrimPrefix(r.Group+"/"+r.Version, "/"), r.Kind, r.Namespace, r.Name))
	}
	s.onlyThose("only those to be left that were there before the Application", func(id string) bool { return s.before[id] })
	s.tell("After %s nothing of it is left. The namespace and its Secrets stay.", since(began))
}

// objects returns the objects of the namespace as "KIND NAME", except events.
func (s *story) objects(ctx context.Context) (map[string]bool, error) {
	d, err := discovery.NewDiscoveryClientForConfig(s.Config())
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
			if err := s.Client().List(ctx, list, client.InNamespace(namespace)); err != nil {
				return nil, err
			}
			for _, o := range list.Items {
				found[r.Kind+" "+o.Name] = true
			}
		}
	}
	return found, nil
}

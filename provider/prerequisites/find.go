package prerequisites

import (
	"context"
	"fmt"
	"slices"

	authorizationv1 "k8s.io/api/authorization/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/gorizond/koldun/apis/prerequisites"
)

// An Account is a service account.
type Account struct{ Namespace, Name string }

func (a Account) user() string { return "system:serviceaccount:" + a.Namespace + ":" + a.Name }

func (a Account) groups() []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + a.Namespace, "system:authenticated"}
}

// kinds returns the needed kinds that the API server serves, and the names of the
// others.
func kinds(clients kubernetes.Interface) (present []prerequisites.Needed, absent []string, err error) {
	for _, n := range prerequisites.All() {
		there, err := serves(clients, n)
		if err != nil {
			return nil, nil, err
		}
		if there {
			present = append(present, n)
		} else {
			absent = append(absent, n.Name())
		}
	}
	return present, absent, nil
}

// serves reports whether the API server serves a kind.
func serves(clients kubernetes.Interface, n prerequisites.Needed) (bool, error) {
	if n.Of == "" {
		return true, nil
	}
	list, err := clients.Discovery().ServerResourcesForGroupVersion(n.APIVersion())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot discover the kinds of %s: %w", n.APIVersion(), err)
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Kind == n.Kind }), nil
}

// forbidden returns the kinds that Crossplane may not manage. It returns none if the
// account is not Crossplane's, which may change CRDs.
func forbidden(ctx context.Context, clients kubernetes.Interface, crossplane Account, kinds []prerequisites.Needed) ([]string, error) {
	is, err := may(ctx, clients, crossplane, "patch", "apiextensions.k8s.io", "customresourcedefinitions")
	if apierrors.IsForbidden(err) || err == nil && !is {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, n := range kinds {
		for _, verb := range []string{"get", "list", "watch", "create", "patch", "delete"} {
			allowed, err := may(ctx, clients, crossplane, verb, n.Group, n.Resource)
			if err != nil {
				return nil, err
			}
			if !allowed {
				out = append(out, n.Name())
				break
			}
		}
	}
	return out, nil
}

// may reports whether an account has a right in all namespaces.
func may(ctx context.Context, clients kubernetes.Interface, a Account, verb, group, resource string) (bool, error) {
	review, err := clients.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: a.user(), Groups: a.groups(),
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("cannot review the rights of service account %q: %w", a.Name, err)
	}
	return review.Status.Allowed, nil
}

// classes returns the StorageClasses; nil if the provider may not list them.
func classes(ctx context.Context, clients kubernetes.Interface) (*prerequisites.StorageClasses, error) {
	list, err := clients.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list StorageClasses: %w", err)
	}
	return classesOf(list.Items), nil
}

// classesOf returns the names, and the default class: of several the newest, as the API
// server does.
func classesOf(items []storagev1.StorageClass) *prerequisites.StorageClasses {
	out := &prerequisites.StorageClasses{Names: []string{}}
	var newest metav1.Time
	for _, c := range items {
		out.Names = append(out.Names, c.Name)
		isDefault := c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" || c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
		if isDefault && (out.Default == "" || newest.Before(&c.CreationTimestamp)) {
			out.Default, newest = c.Name, c.CreationTimestamp
		}
	}
	slices.Sort(out.Names)
	return out
}

package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/gorizond/koldun/internal/fault"
)

// A Resource identifies the objects of a kind.
type Resource struct{ Group, Version, Kind, Plural string }

// A Key identifies an object. Namespace is "" for a cluster-scoped object.
type Key struct{ Namespace, Name string }

func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// String returns the name of the resource as in RBAC rules: "secrets",
// "models.koldun.gorizond.io".
func (r Resource) String() string { return strings.TrimSuffix(r.Plural+"."+r.Group, ".") }

// Get reads an object. Errors: NotFound, Unsupported (the cluster does not
// know the kind), Denied, Transient.
func (c *Client) Get(ctx context.Context, r Resource, k Key) (*unstructured.Unstructured, error) {
	obj, err := c.of(r, k).Get(ctx, k.Name, metav1.GetOptions{})
	return obj, c.explain("read", r, k, err)
}

// Apply writes the fields of an object by server-side apply. With force it takes
// over fields of other field managers. Errors: those of Get, Conflict (with the
// managers and fields), Invalid.
func (c *Client) Apply(ctx context.Context, r Resource, obj *unstructured.Unstructured, force bool) (*unstructured.Unstructured, error) {
	k := Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
	out, err := c.of(r, k).Apply(ctx, k.Name, obj, metav1.ApplyOptions{FieldManager: FieldManager, Force: force})
	return out, c.explain("apply", r, k, err)
}

// Delete starts the foreground deletion of an object: its dependents are deleted
// first. A missing object is no error.
func (c *Client) Delete(ctx context.Context, r Resource, k Key) error {
	return c.delete(ctx, r, k, metav1.DeletePropagationForeground)
}

// Remove deletes an object in the background. A missing object is no error.
func (c *Client) Remove(ctx context.Context, r Resource, k Key) error {
	return c.delete(ctx, r, k, metav1.DeletePropagationBackground)
}

func (c *Client) delete(ctx context.Context, r Resource, k Key, policy metav1.DeletionPropagation) error {
	err := c.of(r, k).Delete(ctx, k.Name, metav1.DeleteOptions{PropagationPolicy: &policy})
	if err = c.explain("delete", r, k, err); fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

func (c *Client) of(r Resource, k Key) dynamic.ResourceInterface {
	all := c.dynamic.Resource(schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Plural})
	if k.Namespace == "" {
		return all
	}
	return all.Namespace(k.Namespace)
}

// explain adds the fault kind to an error of the API server, and how to mend it.
func (c *Client) explain(verb string, r Resource, k Key, err error) error {
	if err == nil {
		return nil
	}
	kind, hint := fault.Internal, ""
	switch {
	case apierrors.IsNotFound(err) && unknownKind(err):
		kind, hint = fault.Unsupported, fmt.Sprintf("the cluster does not know %s: install Koldun's packages (package/install.yaml), or set wait.for_api", r)
		return fault.Errorf(kind, "cannot %s %s %q: %s", verb, r.Kind, k, hint)
	case apierrors.IsNotFound(err):
		kind = fault.NotFound
		if about(err) == "namespaces" {
			hint = "; make the namespace first, or name one that exists"
		}
	case apierrors.IsForbidden(err):
		kind, hint = fault.Denied, fmt.Sprintf("; allow the verbs get, patch and delete on %s", r)
	case apierrors.IsUnauthorized(err):
		kind, hint = fault.Denied, "; the credentials are missing or no longer valid: look at the user in the kubeconfig file, or at kubernetes.token in the provider block"
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		kind = fault.Invalid
	case apierrors.IsConflict(err):
		kind = fault.Conflict
		if verb == "apply" {
			hint = "; set force_conflicts to take these fields over"
		}
	case !isStatus(err):
		kind, hint = fault.Transient, "; is the cluster up, and is it the one of KUBECONFIG, or of kubernetes.config_path or kubernetes.host in the provider block?"
	case apierrors.IsTimeout(err), apierrors.IsServerTimeout(err), apierrors.IsTooManyRequests(err), apierrors.IsInternalError(err), apierrors.IsServiceUnavailable(err):
		kind = fault.Transient
	}
	return fault.Errorf(kind, "cannot %s %s %q: %w%s", verb, r.Kind, k, err, hint)
}

// unknownKind reports whether a kind is missing, not an object. Then the status
// has no details, or the server's text for a path that it does not serve.
func unknownKind(err error) bool {
	var s apierrors.APIStatus
	if !errors.As(err, &s) {
		return false
	}
	st := s.Status()
	return st.Code == http.StatusNotFound && (st.Details == nil || st.Details.Name == "" || strings.Contains(st.Message, "could not find the requested resource"))
}

// about returns the resource that an error of the API server names.
func about(err error) string {
	var s apierrors.APIStatus
	if !errors.As(err, &s) || s.Status().Details == nil {
		return ""
	}
	return s.Status().Details.Kind
}

func isStatus(err error) bool {
	var s apierrors.APIStatus
	return errors.As(err, &s)
}

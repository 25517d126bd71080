// Package dependents applies the dependent objects of managed resources: a
// Session for each pool of a Demand, a Dllama for each member of a Pool, the composite
// of a Part. They are in the namespace of the managed resource, which is their
// controller owner, so the garbage collector deletes them with it.
//
// A composite that composed these objects itself would be reconciled for each of
// their changes, and Crossplane's circuit breaker counts those reconciles:
// docs/background/event-budget.md.
package dependents

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/provider/requeue"
)

const (
	// manager is the field manager of server-side apply.
	manager = client.FieldOwner("koldun-provider")
	// annotationTemplate holds a hash of the object as it was applied. A field that
	// leaves the object changes the hash, so it is applied again without it.
	annotationTemplate = v1alpha1.Group + "/template"
)

// An Applier creates, changes and deletes dependents. It is safe for concurrent
// use.
type Applier struct {
	client  client.Client
	tracker *requeue.Tracker
	known   *known
}

// New returns an Applier that writes through c.
func New(c client.Client, tracker *requeue.Tracker) *Applier {
	return &Applier{client: c, tracker: tracker, known: newKnown(tracker)}
}

// Existing returns the objects of a kind in the namespace of a managed resource, and
// those of the kind beside it unless that is "". It has the resource reconciled when
// they change. Errors: Transient until the objects have been listed.
func (a *Applier) Existing(ctx context.Context, kind, beside string, m resource.Managed) (external.Existing, error) {
	var out external.Existing
	all, err := a.list(ctx, kind, m)
	for i := range all {
		if metav1.IsControlledBy(&all[i], m) {
			out.Own = append(out.Own, all[i].Object)
		} else {
			out.Others = append(out.Others, all[i].Object)
		}
	}
	if err != nil || beside == "" {
		return out, err
	}
	all, err = a.list(ctx, beside, m)
	for i := range all {
		out.Beside = append(out.Beside, all[i].Object)
	}
	return out, err
}

// list returns the objects of a kind, whose changes have the resource reconciled.
func (a *Applier) list(ctx context.Context, kind string, m resource.Managed) ([]unstructured.Unstructured, error) {
	parent, err := a.client.GroupVersionKindFor(m)
	if err != nil {
		return nil, err
	}
	a.tracker.Read(requeue.Key{Kind: parent.Kind, NamespacedName: client.ObjectKeyFromObject(m)}, othersKey(kind, m.GetNamespace()))
	return a.known.list(ctx, kind, m.GetNamespace())
}

// Changes lead from the existing dependents to the desired ones.
type Changes struct {
	apply  []*unstructured.Unstructured
	remove []unstructured.Unstructured
	// there holds the names of applied objects that exist already.
	there map[string]bool
}

// Any reports whether there is a change.
func (c Changes) Any() bool { return len(c.apply)+len(c.remove) > 0 }

// Plan compares the desired dependents of a managed resource with the existing
// objects. It leaves alone an object that is being deleted. Errors: Conflict if
// another owner has an object of a desired name, Transient if that is being deleted.
func (a *Applier) Plan(m resource.Managed, want []external.Object, there external.Existing) (Changes, error) {
	out := Changes{there: map[string]bool{}}
	gvk, err := a.client.GroupVersionKindFor(m)
	if err != nil {
		return out, err
	}
	others := map[string]unstructured.Unstructured{}
	for _, o := range there.Others {
		u := unstructured.Unstructured{Object: o}
		others[u.GetName()] = u
	}
	mine := map[string]unstructured.Unstructured{}
	for _, o := range there.Own {
		u := unstructured.Unstructured{Object: o}
		mine[u.GetName()] = u
	}
	for _, w := range want {
		have, ok := mine[w.Name]
		delete(mine, w.Name)
		if ok && have.GetDeletionTimestamp() != nil {
			continue
		}
		if other, taken := others[w.Name]; taken {
			if other.GetDeletionTimestamp() != nil {
				return out, fault.Errorf(fault.Transient, "cannot make %s %q until the earlier object of this name, which is being deleted, is gone", w.Kind, w.Name)
			}
			return out, fault.Errorf(fault.Conflict, "cannot make %s %q: an object of this name has another owner; rename that object", w.Kind, w.Name)
		}
		desired, err := desiredOf(w, m)
		if err != nil {
			return out, err
		}
		if ok && contains(have.Object, desired.Object) {
			continue
		}
		own(desired, gvk.Kind, m)
		out.there[w.Name] = ok
		out.apply = append(out.apply, desired)
	}
	for _, name := range slices.Sorted(maps.Keys(mine)) {
		if u := mine[name]; u.GetDeletionTimestamp() == nil {
			out.remove = append(out.remove, u)
		}
	}
	return out, nil
}

// Apply makes the changes. It never takes over an object of another owner. Errors
// name the object: Conflict, Invalid, Denied or Transient.
func (a *Applier) Apply(ctx context.Context, c Changes) error {
	for _, u := range c.remove {
		uid := u.GetUID()
		err := a.client.Delete(ctx, &u, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return problem("remove", &u, err)
		}
	}
	for _, u := range c.apply {
		opts := []client.ApplyOption{manager}
		if c.there[u.GetName()] {
			opts = append(opts, client.ForceOwnership) // against edits, not against other owners
		}
		if err := a.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), opts...); err != nil {
			if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
				return nil // the namespace is being deleted with all its objects
			}
			return problem("make", u, err)
		}
	}
	return nil
}

func problem(verb string, u *unstructured.Unstructured, err error) error {
	kind, more := fault.Transient, ""
	switch {
	case apierrors.IsConflict(err):
		kind = fault.Conflict
	case apierrors.IsInvalid(err) && strings.Contains(err.Error(), "ownerReferences"):
		kind, more = fault.Conflict, ": it has another owner"
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		kind = fault.Invalid
	case apierrors.IsForbidden(err):
		kind, more = fault.Denied, ": give the provider the rights that package/install.yaml does"
	}
	return fault.Errorf(kind, "cannot %s %s %q%s: %w", verb, u.GetKind(), u.GetName(), more, err)
}

// desiredOf returns the object as it is applied, without its owner reference.
func desiredOf(o external.Object, m resource.Managed) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": o.Spec}}
	u.SetAPIVersion(o.APIVersion)
	u.SetKind(o.Kind)
	u.SetNamespace(m.GetNamespace())
	u.SetName(o.Name)
	if len(o.Labels) > 0 {
		u.SetLabels(o.Labels)
	}
	hash, err := hashOf(o)
	if err != nil {
		return nil, fmt.Errorf("cannot encode %s %q: %w", o.Kind, o.Name, err)
	}
	annotations := maps.Clone(o.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[annotationTemplate] = hash
	u.SetAnnotations(annotations)
	return u, nil
}

// own makes the managed resource the controller owner of the object.
func own(u *unstructured.Unstructured, kind string, m resource.Managed) {
	yes := true
	u.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: v1alpha1.APIVersion, Kind: kind, Name: m.GetName(), UID: m.GetUID(), Controller: &yes, BlockOwnerDeletion: &yes,
	}})
}

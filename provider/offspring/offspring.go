// Package offspring keeps the objects that managed resources make: a Session
// for each pool of a Demand, a Dllama for each member of a Pool. They are in the
// namespace of the resource and belong to it, so the garbage collector takes
// them when it goes.
//
// A composite that composed them itself would hear of all that happens to them,
// and Crossplane's circuit breaker counts what a composite hears.
package offspring

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
	"github.com/gorizond/koldun/provider/wake"
)

const (
	// manager of the fields that are set.
	manager = client.FieldOwner("koldun-provider")
	// annotationTemplate holds a hash of what an object was made of. What is not
	// in it any more is taken from the object.
	annotationTemplate = v1alpha1.Group + "/template"
)

// A Keeper keeps objects. It is safe for concurrent use.
type Keeper struct {
	client client.Client
	board  *wake.Board
	known  *known
}

// New is a Keeper that writes through c.
func New(c client.Client, board *wake.Board) *Keeper {
	return &Keeper{client: c, board: board, known: newKnown(board)}
}

// There are the objects of a kind in the namespace of a managed resource. It is
// woken when they change. Errors: Transient until they are known.
func (k *Keeper) There(ctx context.Context, kind string, m resource.Managed) (external.Relatives, error) {
	var out external.Relatives
	parent, err := k.client.GroupVersionKindFor(m)
	if err != nil {
		return out, err
	}
	k.board.Read(wake.Key{Kind: parent.Kind, NamespacedName: client.ObjectKeyFromObject(m)}, othersKey(kind, m.GetNamespace()))
	all, err := k.known.list(ctx, kind, m.GetNamespace())
	for i := range all {
		if metav1.IsControlledBy(&all[i], m) {
			out.Own = append(out.Own, all[i].Object)
		} else {
			out.Others = append(out.Others, all[i].Object)
		}
	}
	return out, err
}

// Changes are what is to be done to have the objects that there should be.
type Changes struct {
	apply  []*unstructured.Unstructured
	remove []unstructured.Unstructured
	// there are the names of those that exist already.
	there map[string]bool
}

// Any reports whether there is something to do.
func (c Changes) Any() bool { return len(c.apply)+len(c.remove) > 0 }

// Plan compares the objects that a managed resource should have with those that
// are there. One that is going is waited for.
func (k *Keeper) Plan(m resource.Managed, want []external.Object, there external.Relatives) (Changes, error) {
	out := Changes{there: map[string]bool{}}
	gvk, err := k.client.GroupVersionKindFor(m)
	if err != nil {
		return out, err
	}
	taken := map[string]bool{}
	for _, o := range there.Others {
		u := unstructured.Unstructured{Object: o}
		taken[u.GetName()] = true
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
		if taken[w.Name] {
			return out, fault.Errorf(fault.Conflict, "cannot make %s %q: there is one that belongs to somebody else; rename that", w.Kind, w.Name)
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

// Bring does what is to be done. Objects of others are not taken over. Errors
// name the object: Conflict, Invalid, Denied or Transient.
func (k *Keeper) Bring(ctx context.Context, c Changes) error {
	for _, u := range c.remove {
		uid := u.GetUID()
		err := k.client.Delete(ctx, &u, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return problem("remove", &u, err)
		}
	}
	for _, u := range c.apply {
		opts := []client.ApplyOption{manager}
		if c.there[u.GetName()] {
			opts = append(opts, client.ForceOwnership) // against edits, not against other owners
		}
		if err := k.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), opts...); err != nil {
			if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
				return nil // all that is in it goes
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
		kind, more = fault.Conflict, ": it belongs to somebody else"
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		kind = fault.Invalid
	case apierrors.IsForbidden(err):
		kind, more = fault.Denied, ": give the provider the rights that package/install.yaml does"
	}
	return fault.Errorf(kind, "cannot %s %s %q%s: %w", verb, u.GetKind(), u.GetName(), more, err)
}

// desiredOf is the object as it is applied, but for its owner.
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

// own makes the object one of the managed resource's.
func own(u *unstructured.Unstructured, kind string, m resource.Managed) {
	yes := true
	u.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: v1alpha1.APIVersion, Kind: kind, Name: m.GetName(), UID: m.GetUID(), Controller: &yes, BlockOwnerDeletion: &yes,
	}})
}

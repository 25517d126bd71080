package compose

import (
	"fmt"
	"iter"
	"strings"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// observed is what exists: the composite and its composed resources.
type observed struct{ state *fnv1.State }

// Composite decodes the observed composite. The composite of a claim gets the
// claim's name and namespace, so that the same objects are composed for both.
func (o observed) Composite(into metav1.Object) error {
	s := o.state.GetComposite().GetResource()
	if err := decode(s, into); err != nil {
		return fmt.Errorf("cannot decode composite resource: %w", err)
	}
	if into.GetNamespace() != "" {
		return nil
	}
	claim := s.GetFields()["spec"].GetStructValue().GetFields()["claimRef"].GetStructValue().GetFields()
	namespace, name := claim["namespace"].GetStringValue(), claim["name"].GetStringValue()
	if namespace == "" || name == "" {
		return fmt.Errorf("composite resource %q belongs to no namespace: create the claim in its place", into.GetName())
	}
	into.SetNamespace(namespace)
	into.SetName(name)
	return nil
}

// ClusterComposite decodes the observed composite of a cluster-scoped kind, which has
// neither a namespace nor a claim.
func (o observed) ClusterComposite(into metav1.Object) error {
	if err := decode(o.state.GetComposite().GetResource(), into); err != nil {
		return fmt.Errorf("cannot decode composite resource: %w", err)
	}
	if into.GetNamespace() != "" {
		return fmt.Errorf("composite resource %q belongs to namespace %q, and its kind is cluster-scoped", into.GetName(), into.GetNamespace())
	}
	return nil
}

// claim returns the kind of the composite's claim, and its spec.
func (o observed) claim() (kind string, spec any) {
	fields := o.state.GetComposite().GetResource().GetFields()
	return strings.TrimPrefix(fields["kind"].GetStringValue(), "X"), fields["spec"].AsInterface()
}

// ClusterScoped reports whether the composite has no namespace, and so may
// compose cluster-scoped objects.
func (o observed) ClusterScoped() bool {
	meta := o.state.GetComposite().GetResource().GetFields()["metadata"].GetStructValue()
	return meta.GetFields()["namespace"].GetStringValue() == ""
}

// Observed decodes the composed resource of that name. It returns false if none
// exists, or if it cannot be decoded.
func (o observed) Observed(name string, into any) bool {
	r, ok := o.state.GetResources()[name]
	return ok && r.GetResource() != nil && decode(r.GetResource(), into) == nil
}

// Exists reports whether the composed resource of that name exists.
func (o observed) Exists(name string) bool {
	_, ok := o.state.GetResources()[name]
	return ok
}

// Resources lists the names of the composed resources that exist and begin
// with the prefix, in no order.
func (o observed) Resources(prefix string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range o.state.GetResources() {
			if strings.HasPrefix(name, prefix) && !yield(name) {
				return
			}
		}
	}
}

// Condition returns a condition of the composed resource of that name; zero if
// the resource or the condition does not exist.
func (o observed) Condition(name, condition string) metav1.Condition {
	return conditionOf(o.state.GetResources()[name].GetResource(), condition)
}

// part returns the fields of a part of a composed resource, such as its status.
func (o observed) part(name, part string) map[string]*structpb.Value {
	return o.state.GetResources()[name].GetResource().GetFields()[part].GetStructValue().GetFields()
}

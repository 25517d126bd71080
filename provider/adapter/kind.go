// Package adapter reconciles managed resources by the clients of the catalog
// (internal/external/catalog): one thin controller, the same for all kinds.
//
// Fields of spec.forProvider and status.atProvider are copied by their JSON
// names. A resource is watched if its client can watch it, and polled otherwise.
package adapter

import (
	"fmt"
	"reflect"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/external/catalog"
)

// A Kind reconciles the managed resources of one kind.
type Kind struct{ catalog.Entry }

// Kinds returns all kinds.
func Kinds() []Kind {
	var out []Kind
	for _, e := range catalog.Entries() {
		out = append(out, Kind{e})
	}
	return out
}

// A managedResource is a managed resource of any kind. The methods that the runtime
// does not require return pointers to spec.forProvider and status.atProvider.
type managedResource interface {
	resource.ModernManaged
	GetForProvider() any
	GetAtProvider() any
}

// NeedsDeletion reports whether resources of the kind delete something through a
// connection that a ProviderConfig describes.
func (k Kind) NeedsDeletion() bool { return !k.observeOnly() && !k.inCluster() }

// inCluster reports whether the external resources are in this cluster, so that
// no ProviderConfig is used.
func (k Kind) inCluster() bool { return k.System == catalog.Kubernetes }

func (k Kind) observeOnly() bool { return v1alpha1.ObserveOnly(k.Kind) }

// owner returns the unique name of a resource, as in entries of the registry.
func (k Kind) owner(m resource.Managed) string {
	if m.GetNamespace() == "" {
		return k.Kind + "/" + m.GetName()
	}
	return k.Kind + "/" + m.GetNamespace() + "/" + m.GetName()
}

// show sets status.atProvider.
func (k Kind) show(m managedResource, status any) error {
	observation := m.GetAtProvider()
	reflect.ValueOf(observation).Elem().SetZero()
	if err := catalog.Decode(status, observation); err != nil {
		return fmt.Errorf("cannot write status.atProvider of %s %q: %w", k.Kind, m.GetName(), err)
	}
	return nil
}

// pending reports whether a resource has work in the background.
func (k Kind) pending(mg resource.Managed) bool {
	m, ok := mg.(managedResource)
	if !ok {
		return false
	}
	pending, err := k.Pending(m.GetForProvider(), m.GetAtProvider())
	return err == nil && pending
}

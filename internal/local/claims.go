package local

import (
	"fmt"

	"github.com/gorizond/koldun/internal/fault"
)

const defaultNamespace = "default"

// checkClaims sets the namespace of claims, and refuses duplicates and kinds that
// do not belong into a claims file.
func checkClaims(claims []Object) ([]Object, error) {
	if len(claims) == 0 {
		return nil, fault.Errorf(fault.Invalid, "cannot run claims: there are none")
	}
	seen := map[Key]int{}
	checked := make([]Object, 0, len(claims))
	for i, claim := range claims {
		obj, err := NewObject(claim)
		if err != nil {
			return nil, fault.Errorf(fault.Invalid, "cannot read document %d: %w", i+1, err)
		}
		key := obj.Key()
		if key.APIVersion == "" || key.Kind == "" {
			return nil, fault.Errorf(fault.Invalid, "cannot run document %d: apiVersion and kind are required", i+1)
		}
		if key.Name == "" {
			return nil, fault.Errorf(fault.Invalid, "cannot run document %d, a %s: metadata.name is required", i+1, key.Kind)
		}
		if key.Namespace == "" {
			key.Namespace = defaultNamespace
			meta, _ := at(obj, "metadata")
			meta.(map[string]any)["namespace"] = key.Namespace
		}
		if first, ok := seen[key]; ok {
			return nil, fault.Errorf(fault.Invalid, "cannot run documents %d and %d: both are %s", first, i+1, key)
		}
		seen[key] = i + 1
		if !claimable(key) {
			return nil, fault.Errorf(fault.Unsupported,
				"cannot run %s: the kind %s of %s does not belong into a claims file; kinds of %s and %s, Secrets, ConfigMaps and PersistentVolumeClaims do",
				key, key.Kind, key.APIVersion, CompositeGroup, ManagedGroup)
		}
		checked = append(checked, obj)
	}
	for _, obj := range checked {
		if classOf(obj.Key()) == secretClass {
			if _, err := secretData(obj); err != nil {
				return nil, fmt.Errorf("cannot use %s: %w", obj.Key(), err)
			}
		}
	}
	return checked, nil
}

func claimable(k Key) bool {
	switch classOf(k) {
	case compositeClass, managedClass, configClass, secretClass:
		return true
	case plainClass:
		return k.APIVersion == "v1" && k.Kind == "PersistentVolumeClaim"
	}
	return false
}

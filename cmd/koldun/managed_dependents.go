package main

import (
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/local"
)

// parent is the face of a client whose observations call for objects.
func parent[S, O any](c connections, client external.Client[S, O], complete func(local.Object, *S) error, p external.Dependents[S, O]) local.Managed {
	return face[S, O]{
		client: client,
		complete: func(obj local.Object, s *S) error {
			var there external.Existing
			for _, one := range c.composites(p.Kind, obj.Key().Namespace) {
				if one.Owner == obj.Key() {
					there.Own = append(there.Own, one.Object)
				} else {
					there.Others = append(there.Others, one.Object)
				}
			}
			p.Note(s, there)
			return complete(obj, s)
		},
		objects: func(obj local.Object, s S, o O) ([]local.Object, error) {
			return made(p.Objects(s, o), obj.Key().Namespace, c.defaults)
		},
	}
}

// made are objects as an API server would have them.
func made(objects []external.Object, namespace string, defaults func(map[string]any)) ([]local.Object, error) {
	out := make([]local.Object, 0, len(objects))
	for _, o := range objects {
		obj, err := plain(map[string]any{
			"apiVersion": o.APIVersion, "kind": o.Kind,
			"metadata": metadata(o, namespace),
			"spec":     o.Spec,
		})
		if err != nil {
			return nil, err
		}
		defaults(obj)
		if obj, err = plain(obj); err != nil { // defaults bring int64
			return nil, err
		}
		out = append(out, obj)
	}
	return out, nil
}

func metadata(o external.Object, namespace string) map[string]any {
	out := map[string]any{"namespace": namespace, "name": o.Name}
	if len(o.Labels) > 0 {
		out["labels"] = o.Labels
	}
	if len(o.Annotations) > 0 {
		out["annotations"] = o.Annotations
	}
	return out
}

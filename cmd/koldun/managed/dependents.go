package managed

import (
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/catalog"
	"github.com/gorizond/koldun/internal/local"
)

// existing returns the objects that may be dependents of an object.
func (c *Client) existing(e catalog.Entry, obj local.Object, spec any) (out external.Existing, err error) {
	kind, _, err := e.DependentsOf(spec)
	if err != nil || kind == "" {
		return out, err
	}
	for _, one := range c.cfg.Composites(kind, obj.Key().Namespace) {
		if one.Owner == obj.Key() {
			out.Own = append(out.Own, one.Object)
		} else {
			out.Others = append(out.Others, one.Object)
		}
	}
	if e.Beside != "" {
		for _, one := range c.cfg.Composites(e.Beside, obj.Key().Namespace) {
			out.Beside = append(out.Beside, one.Object)
		}
	}
	return out, nil
}

// Objects returns dependents in a namespace as an API server would store them.
// setDefaults sets the defaults of an object.
func Objects(dependents []external.Object, namespace string, setDefaults func(obj map[string]any)) ([]local.Object, error) {
	out := make([]local.Object, 0, len(dependents))
	for _, o := range dependents {
		obj, err := local.NewObject(map[string]any{
			"apiVersion": o.APIVersion, "kind": o.Kind,
			"metadata": metadata(o, namespace),
			"spec":     o.Spec,
		})
		if err != nil {
			return nil, err
		}
		setDefaults(obj)
		if obj, err = local.NewObject(obj); err != nil { // defaults bring int64
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

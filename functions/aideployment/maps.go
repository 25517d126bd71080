package aideployment

import (
	"cmp"
	"fmt"
	"slices"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/aimodelmap"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
)

// variant reads a variant of a map.
func (p *plan) variant(field string, ref v1.AIModelMapReference) (v1.AIModelVariant, compose.Next, error) {
	namespace := cmp.Or(ref.Namespace, p.d.Namespace)
	var m v1.AIModelMap
	found, known := p.Require("map-"+namespace+"/"+ref.Name, v1.APIVersion, v1.KindAIModelMap, namespace, ref.Name, &m)
	switch {
	case !known:
		p.fail(reason.ModelMapNotFound, "%s: AIModelMap %q of namespace %q has not been read yet", field, ref.Name, namespace)
		return v1.AIModelVariant{}, compose.Stop, p.keep(0)
	// A map that may not be read is like one that does not exist.
	case !found, !aimodelmap.MayRead(m, p.d.Namespace):
		p.fail(reason.ModelMapNotFound, "%s: AIModelMap %q does not exist in namespace %q%s", field, ref.Name, namespace, grant(namespace, p.d.Namespace))
		return v1.AIModelVariant{}, compose.Stop, p.keep(0)
	}
	list := aimodelmap.Lists(m.Spec)[string(p.d.Spec.Engine.Name)]
	i := slices.IndexFunc(list, func(v v1.AIModelVariant) bool { return v.Variant == ref.Variant })
	if i < 0 {
		p.fail(reason.VariantNotFound, "%s: AIModelMap %q has no variant %q for engine %s", field, ref.Name, ref.Variant, p.d.Spec.Engine.Name)
		return v1.AIModelVariant{}, compose.Stop, p.keep(0)
	}
	return list[i], compose.Continue, nil
}

func grant(namespace, own string) string {
	if namespace == own {
		return ""
	}
	return fmt.Sprintf(", or does not list namespace %q in spec.access.namespaces", own)
}

// nameInMap is the name of the map; with the variant if several models are of maps
// of that name, and with the namespace if two would have one name otherwise.
func nameInMap(d *v1.AIDeployment, ref v1.AIModelMapReference) string {
	namespace, name := cmp.Or(ref.Namespace, d.Namespace), ref.Name
	for _, m := range d.Spec.Models {
		other := m.ModelMapRef
		if other == nil || other.Name != ref.Name {
			continue
		}
		switch elsewhere := cmp.Or(other.Namespace, d.Namespace) != namespace; {
		case elsewhere && other.Variant == ref.Variant:
			return namespace + "-" + ref.Name + "-" + ref.Variant
		case elsewhere || other.Variant != ref.Variant:
			name = ref.Name + "-" + ref.Variant
		}
	}
	return name
}

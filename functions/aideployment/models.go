package aideployment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/aimodelmap"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/names"
)

// A model is what a claim says of one, after its map is read.
type model struct {
	v1.AIResolvedModel
	named   bool // by the claim, or by its map
	variant v1.AIModelData
	config  []json.RawMessage
}

// resolve reads the maps that the models name. A change of a map composes the
// AIDeployment again.
func (p *plan) resolve() (compose.Next, error) {
	if problem := p.count(); problem != "" {
		return p.refuse("spec.models: %s", problem)
	}
	for i, m := range p.d.Spec.Models {
		resolved, next, err := p.resolveOne(fmt.Sprintf("spec.models[%d]", i), m)
		if next == compose.Stop || err != nil {
			return compose.Stop, err
		}
		p.models = append(p.models, resolved)
	}
	for _, m := range p.models {
		for _, name := range p.servedNames(m) {
			resolved := m.AIResolvedModel
			resolved.Name = name
			p.status.ResolvedModels = append(p.status.ResolvedModels, resolved)
		}
	}
	return compose.Continue, nil
}

// servedNames are the names by which clients ask for a model.
func (p *plan) servedNames(m model) []string {
	if p.queued() {
		return []string{p.d.Namespace + "/" + p.name()}
	}
	var out []string
	for _, name := range p.profile.NamesAlone(p.loaded(m)) {
		out = append(out, strings.Replace(name, names.DirRef(volumeModels), modelsFolder, 1))
	}
	return out
}

// count says how many models are wrong for the engine, for claims from before the
// schema had the rule.
func (p *plan) count() string {
	n, takes := len(p.d.Spec.Models), p.profile.Alone.Models
	switch {
	case takes == profile.NoModels && n > 0:
		return "a generic engine gets its models by itself"
	case takes == profile.ManyModels && n == 0:
		return "the engine needs at least one"
	case n != 1 && (takes == profile.OneModel || p.queued()):
		return fmt.Sprintf("the engine serves exactly one, and there are %d", n)
	}
	return ""
}

func (p *plan) resolveOne(field string, m v1.AIDeploymentModel) (model, compose.Next, error) {
	out := model{AIResolvedModel: v1.AIResolvedModel{Name: m.URI}}
	data := m.AIModelData
	if ref := m.ModelMapRef; ref != nil {
		variant, next, err := p.variant(field+".modelMapRef", *ref)
		if next == compose.Stop || err != nil {
			return out, compose.Stop, err
		}
		out.variant = variant.AIModelData
		data = merge(m.AIModelData, variant.AIModelData)
		out.named, out.Name, out.ModelMap, out.Variant = true, p.nameInMap(*ref), cmp.Or(ref.Namespace, p.d.Namespace)+"/"+ref.Name, ref.Variant
	}
	if o := p.d.Spec.Engine.Options; o != nil {
		data.DataType = cmp.Or(o.Dtype, data.DataType)
		data.Quantization = cmp.Or(o.Quantization, data.Quantization)
		out.Name, out.named = cmp.Or(o.ServedName, out.Name), out.named || o.ServedName != ""
	}
	if out.Name == "" || !out.named && p.isFile(out.Name) {
		out.Name = p.d.Name
	}
	out.URI, out.Revision, out.DataType, out.Quantization = data.URI, data.Revision, data.DataType, data.Quantization
	config, err := entries(data.EngineConfigFile)
	switch {
	case err != nil:
		next, err := p.refuse("%s.engineConfigFile: %v", field, err)
		return out, next, err
	case len(config) > 0 && p.d.Spec.Engine.Name != "localai":
		next, err := p.refuse("%s.engineConfigFile: engine %s has none", field, p.d.Spec.Engine.Name)
		return out, next, err
	case data.URI == "" && len(config) == 0:
		next, err := p.refuse("%s: neither the model nor its variant has a uri", field)
		return out, next, err
	}
	out.config = config
	return out, compose.Continue, nil
}

// nameInMap is the name of the map; with that of the variant if several models are of maps
// of that name, and of the namespace if that would leave two with one name.
func (p *plan) nameInMap(ref v1.AIModelMapReference) string {
	namespace, name := cmp.Or(ref.Namespace, p.d.Namespace), ref.Name
	for _, m := range p.d.Spec.Models {
		other := m.ModelMapRef
		if other == nil || other.Name != ref.Name {
			continue
		}
		switch elsewhere := cmp.Or(other.Namespace, p.d.Namespace) != namespace; {
		case elsewhere && other.Variant == ref.Variant:
			return namespace + "-" + ref.Name + "-" + ref.Variant
		case elsewhere || other.Variant != ref.Variant:
			name = ref.Name + "-" + ref.Variant
		}
	}
	return name
}

// isFile reports whether the only model is a path of a file, which is no name for it.
func (p *plan) isFile(uri string) bool {
	return p.d.Spec.ModelSource != nil && p.profile.Alone.Models == profile.OneModel && (strings.HasSuffix(uri, ".gguf") || path.Base(uri) == "Modelfile")
}

// variant reads a variant of a map.
func (p *plan) variant(field string, ref v1.AIModelMapReference) (v1.AIModelVariant, compose.Next, error) {
	namespace := cmp.Or(ref.Namespace, p.d.Namespace)
	var m v1.AIModelMap
	found, known := p.Require("map-"+namespace+"/"+ref.Name, v1.APIVersion, v1.KindAIModelMap, namespace, ref.Name, &m)
	switch {
	case !known:
		p.fail(reason.ModelMapNotFound, "%s: AIModelMap %q of namespace %q has not been read yet", field, ref.Name, namespace)
		return v1.AIModelVariant{}, compose.Stop, p.keep()
	// A map that may not be read is like one that does not exist.
	case !found, !aimodelmap.MayRead(m, p.d.Namespace):
		p.fail(reason.ModelMapNotFound, "%s: AIModelMap %q does not exist in namespace %q%s", field, ref.Name, namespace, grant(namespace, p.d.Namespace))
		return v1.AIModelVariant{}, compose.Stop, p.keep()
	}
	list := aimodelmap.Lists(m.Spec)[string(p.d.Spec.Engine.Name)]
	i := slices.IndexFunc(list, func(v v1.AIModelVariant) bool { return v.Variant == ref.Variant })
	if i < 0 {
		p.fail(reason.VariantNotFound, "%s: AIModelMap %q has no variant %q for engine %s", field, ref.Name, ref.Variant, p.d.Spec.Engine.Name)
		return v1.AIModelVariant{}, compose.Stop, p.keep()
	}
	return list[i], compose.Continue, nil
}

func grant(namespace, own string) string {
	if namespace == own {
		return ""
	}
	return fmt.Sprintf(", or does not list namespace %q in spec.access.namespaces", own)
}

// merge returns the data of a model: what the claim gives, else what the variant
// does, field by field.
func merge(given, variant v1.AIModelData) v1.AIModelData {
	return v1.AIModelData{
		URI:              cmp.Or(given.URI, variant.URI),
		Revision:         cmp.Or(given.Revision, variant.Revision),
		DataType:         cmp.Or(given.DataType, variant.DataType),
		Quantization:     cmp.Or(given.Quantization, variant.Quantization),
		EngineConfigFile: cmp.Or(given.EngineConfigFile, variant.EngineConfigFile),
	}
}

// entries reads a configuration file, which may hold a list of configurations.
func entries(file string) ([]json.RawMessage, error) {
	if strings.TrimSpace(file) == "" {
		return nil, nil
	}
	raw, err := yaml.YAMLToJSONStrict([]byte(file))
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return list, nil
	}
	var one map[string]json.RawMessage
	if err := json.Unmarshal(raw, &one); err != nil || len(one) == 0 {
		return nil, fmt.Errorf("it is no configuration of a model: an object is needed")
	}
	return []json.RawMessage{raw}, nil
}

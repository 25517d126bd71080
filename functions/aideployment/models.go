package aideployment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"sigs.k8s.io/yaml"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
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
func (p *plan) resolve(e engineSpec) (models []model, next compose.Next, err error) {
	if problem := e.count(); problem != "" {
		next, err = p.refuse("spec.models: %s", problem)
		return nil, next, err
	}
	for i, m := range p.d.Spec.Models {
		resolved, next, err := p.resolveOne(e, fmt.Sprintf("spec.models[%d]", i), m)
		if next == compose.Stop || err != nil {
			return models, compose.Stop, err
		}
		models = append(models, resolved)
	}
	for _, m := range models {
		for _, name := range e.servedNames(m) {
			resolved := m.AIResolvedModel
			resolved.Name = name
			p.status.ResolvedModels = append(p.status.ResolvedModels, resolved)
		}
	}
	return models, compose.Continue, nil
}

// servedNames are the names by which clients ask for a model.
func (e engineSpec) servedNames(m model) []string {
	if Queued(e.d.Spec) {
		return []string{e.d.Namespace + "/" + name(e.d)}
	}
	var out []string
	for _, name := range e.profile.NamesAlone(e.loaded(m)) {
		out = append(out, strings.Replace(name, names.DirRef(volumeModels), modelsFolder, 1))
	}
	return out
}

// count says how many models are wrong for the engine, for claims from before the
// schema had the rule.
func (e engineSpec) count() string {
	n, takes := len(e.d.Spec.Models), e.profile.Alone.Models
	switch {
	case takes == profile.NoModels && n > 0:
		return "a generic engine gets its models by itself"
	case takes == profile.ManyModels && n == 0:
		return "the engine needs at least one"
	case n != 1 && (takes == profile.OneModel || Queued(e.d.Spec)):
		return fmt.Sprintf("the engine serves exactly one, and there are %d", n)
	}
	return ""
}

func (p *plan) resolveOne(e engineSpec, field string, m v1.AIDeploymentModel) (model, compose.Next, error) {
	out := model{AIResolvedModel: v1.AIResolvedModel{Name: m.URI}}
	data := m.AIModelData
	if ref := m.ModelMapRef; ref != nil {
		variant, next, err := p.variant(field+".modelMapRef", *ref)
		if next == compose.Stop || err != nil {
			return out, compose.Stop, err
		}
		out.variant = variant.AIModelData
		data = merge(m.AIModelData, variant.AIModelData)
		out.named, out.Name, out.ModelMap, out.Variant = true, nameInMap(p.d, *ref), cmp.Or(ref.Namespace, p.d.Namespace)+"/"+ref.Name, ref.Variant
	}
	if o := p.d.Spec.Engine.Options; o != nil {
		data.DataType = cmp.Or(o.Dtype, data.DataType)
		data.Quantization = cmp.Or(o.Quantization, data.Quantization)
		out.Name, out.named = cmp.Or(o.ServedName, out.Name), out.named || o.ServedName != ""
	}
	if out.Name == "" || !out.named && e.isFile(out.Name) {
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

// isFile reports whether the only model is a path of a file, which is no name for it.
func (e engineSpec) isFile(uri string) bool {
	return e.d.Spec.ModelSource != nil && e.profile.Alone.Models == profile.OneModel && (strings.HasSuffix(uri, ".gguf") || path.Base(uri) == "Modelfile")
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

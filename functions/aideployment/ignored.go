package aideployment

import (
	"fmt"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
)

// legacy says which fields without effect are given. Prem-Operator accepted a number
// format and a quantization for every engine, and passed them to vLLM only.
func (e engineSpec) legacy(models []model) map[string]bool {
	out := map[string]bool{}
	if e.profile.Name == "" && !spreads(e.d.Spec) {
		return out // no engine is chosen
	}
	formats := e.profile.Alone.Flags != nil
	quantized := formats || spreads(e.d.Spec)
	options := e.d.Spec.Engine.Options
	if options == nil {
		options = &v1.AIDeploymentEngineOptions{}
	}
	out["spec.engine.options.dtype"] = options.Dtype != "" && !formats
	out["spec.engine.options.quantization"] = options.Quantization != "" && !quantized
	out["spec.engine.options.servedName"] = options.ServedName != "" && spreads(e.d.Spec)
	if Queued(e.d.Spec) {
		for field, given := range workload.OptionalKeys(e.d.Spec.Env) {
			out["spec."+field] = given
		}
	}
	for i, m := range e.d.Spec.Models {
		field := fmt.Sprintf("spec.models[%d]", i)
		out[field+".options"] = len(m.Options) > 0
		out[field+".dataType"] = m.DataType != "" && !formats
		out[field+".quantization"] = m.Quantization != "" && !quantized
		if i >= len(models) || m.ModelMapRef == nil {
			continue
		}
		variant := models[i].variant
		out["dataType of the variant of "+field] = variant.DataType != "" && !formats
		out["quantization of the variant of "+field] = variant.Quantization != "" && !quantized
	}
	return out
}

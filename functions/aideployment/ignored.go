package aideployment

import (
	"fmt"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
)

// legacy says which fields without effect are given. Prem-Operator accepted a number
// format and a quantization for every engine, and passed them to vLLM only.
func (p *plan) legacy() map[string]bool {
	out := map[string]bool{}
	if p.profile.Name == "" && !p.distributed() {
		return out // no engine is chosen
	}
	formats := p.profile.Alone.Flags != nil
	quantized := formats || p.distributed()
	options := p.d.Spec.Engine.Options
	if options == nil {
		options = &v1.AIDeploymentEngineOptions{}
	}
	out["spec.engine.options.dtype"] = options.Dtype != "" && !formats
	out["spec.engine.options.quantization"] = options.Quantization != "" && !quantized
	out["spec.engine.options.servedName"] = options.ServedName != "" && p.distributed()
	if p.queued() {
		for field, given := range workload.OptionalKeys(p.d.Spec.Env) {
			out["spec."+field] = given
		}
	}
	for i, m := range p.d.Spec.Models {
		field := fmt.Sprintf("spec.models[%d]", i)
		out[field+".options"] = len(m.Options) > 0
		out[field+".dataType"] = m.DataType != "" && !formats
		out[field+".quantization"] = m.Quantization != "" && !quantized
		if i >= len(p.models) || m.ModelMapRef == nil {
			continue
		}
		variant := p.models[i].variant
		out["dataType of the variant of "+field] = variant.DataType != "" && !formats
		out["quantization of the variant of "+field] = variant.Quantization != "" && !quantized
	}
	return out
}

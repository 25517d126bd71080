package validation_test

import "testing"

func aideployment(spec string) string {
	return "{apiVersion: koldun.gorizond.io/v1, kind: AIDeployment, metadata: {name: a}, spec: {" + spec + "}}"
}

// TestAIDeployment holds what the API server refuses.
func TestAIDeployment(t *testing.T) {
	const vllm, generic = "engine: {name: vllm}, models: [{uri: org/repo}]", "engine: {name: generic}, deployment: {template: {spec: {containers: [{name: c}]}}}"
	checkAll(t, map[string]check{
		"Minimal":        {aideployment(vllm), nil},
		"DottedMap":      {"{apiVersion: koldun.gorizond.io/v1, kind: AIModelMap, metadata: {name: m-1.1b}, spec: {vllm: [{variant: a, quantization: gptq_marlin}]}}", nil},
		"NoModel":        {aideployment("engine: {name: vllm}"), []string{"exactly one model"}},
		"TwoModels":      {aideployment("engine: {name: vllm}, models: [{uri: a}, {uri: b}]"), []string{"exactly one model"}},
		"UnknownEngine":  {aideployment("engine: {name: wllm}"), []string{"spec.engine.name"}},
		"UnknownOption":  {aideployment("engine: {name: vllm, options: {foo: bar}}, models: [{uri: a}]"), []string{"spec.engine.options.foo"}},
		"NoURI":          {aideployment("engine: {name: vllm}, models: [{dataType: float16}]"), []string{"give modelMapRef or uri"}},
		"DataType":       {aideployment("engine: {name: vllm}, models: [{uri: a, dataType: float8}]"), []string{"dataType"}},
		"Triton":         {aideployment("engine: {name: triton}, models: [{uri: org/repo}]"), []string{"http or https"}},
		"GenericNoPort":  {aideployment(generic + ", endpoint: [{domain: a.b}]"), []string{"needs the port"}},
		"Generic":        {aideployment(generic + ", endpoint: [{domain: a.b, port: 80}]"), nil},
		"NoTemplate":     {aideployment("engine: {name: generic}"), []string{"deployment.template"}},
		"GPU":            {aideployment(vllm + ", deployment: {resources: {limits: {nvidia.com/gpu: 1}}}"), []string{"accelerator with interface CUDA"}},
		"Accelerator":    {aideployment(vllm + ", deployment: {accelerator: {interface: OpenCL}}"), []string{"interface"}},
		"Scaled":         {aideployment(vllm + ", autoscaling: {maxReplicas: 2}, deployment: {replicas: 1}"), []string{"not both"}},
		"GatewayScaled":  {aideployment(vllm + ", gateway: {}, deployment: {replicas: 2}"), []string{"one Dllama"}},
		"Nodes":          {aideployment("engine: {name: vllm, nodes: 2}, models: [{uri: a}]"), []string{"runs on one node"}},
		"HTTPRoute":      {aideployment(vllm + ", route: {kind: HTTPRoute}"), []string{"parentRefs"}},
		"NoDeployment":   {aideployment(vllm + ", deployment: null"), nil},
		"ConfigOfOthers": {aideployment("engine: {name: vllm}, models: [{uri: a, engineConfigFile: 'a: b'}]"), []string{"engine localai"}},
	})
}

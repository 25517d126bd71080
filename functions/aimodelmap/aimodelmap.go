// Package aimodelmap composes an AIModelMap: nothing but a status, which says who
// refers to the map.
package aimodelmap

import (
	"slices"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
)

// maxUsers is how many users the status names.
const maxUsers = 64

// Compose answers one call for an AIModelMap.
func Compose(c *compose.Call) error {
	var m v1.AIModelMap
	if err := c.Composite(&m); err != nil {
		return err
	}
	status := v1.AIModelMapStatus{Status: v1.Status{ObservedGeneration: m.Generation}}
	for _, list := range Lists(m.Spec) {
		status.Variants += int32(len(list))
	}
	users := users(c, m)
	status.UserCount = int32(len(users))
	status.Users = users[:min(len(users), maxUsers)]
	c.True(v1.ConditionServing, reason.Available, "The map can be referred to")
	return c.Finish(&status)
}

// users returns the AIDeployments that refer to the map, as NAMESPACE/NAME, of the
// namespaces that may.
func users(c *compose.Call, m v1.AIModelMap) []string {
	namespaces := []string{m.Namespace}
	if m.Spec.Access != nil {
		namespaces = append(namespaces, m.Spec.Access.Namespaces...)
	}
	var out []string
	for _, namespace := range namespaces {
		var found []*v1.AIDeployment
		c.RequireAll("users-"+namespace, v1.APIVersion, v1.KindAIDeployment, namespace, nil, func() any {
			found = append(found, &v1.AIDeployment{})
			return found[len(found)-1]
		})
		for _, d := range found {
			if slices.ContainsFunc(d.Spec.Models, func(user v1.AIDeploymentModel) bool { return refersTo(user, d.Namespace, m) }) {
				out = append(out, d.Namespace+"/"+d.Name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func refersTo(user v1.AIDeploymentModel, namespace string, m v1.AIModelMap) bool {
	ref := user.ModelMapRef
	if ref == nil || ref.Name != m.Name {
		return false
	}
	if ref.Namespace != "" {
		namespace = ref.Namespace
	}
	return namespace == m.Namespace
}

// Lists returns the variants of a map by the names of the engines.
func Lists(s v1.AIModelMapSpec) map[string][]v1.AIModelVariant {
	return map[string][]v1.AIModelVariant{
		"vllm":              s.VLLM,
		"sglang":            s.SGLang,
		"llama.cpp":         s.LlamaCPP,
		"localai":           s.LocalAI,
		"deepspeed-mii":     s.DeepSpeedMII,
		"triton":            append(slices.Clone(s.Triton), s.TensorRT...), // either is given
		"tensorrt-llm":      s.TensorRTLLM,
		"tgi":               s.TGI,
		"ollama":            s.Ollama,
		"distributed-llama": s.DistributedLlama,
	}
}

// MayRead reports whether AIDeployments of a namespace may refer to the map.
func MayRead(m v1.AIModelMap, namespace string) bool {
	return namespace == m.Namespace || m.Spec.Access != nil && slices.Contains(m.Spec.Access.Namespaces, namespace)
}

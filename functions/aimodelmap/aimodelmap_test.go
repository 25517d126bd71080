package aimodelmap_test

import (
	"testing"

	"github.com/gorizond/koldun/functions/aimodelmap"
	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/reason"
)

const modelMap = "apiVersion: koldun.gorizond.io/v1\nkind: AIModelMap\nmetadata: {name: m.1, namespace: ns}\n"

// user is an AIDeployment that refers to a map.
func user(namespace, name, ref string) string {
	return "metadata: {namespace: " + namespace + ", name: " + name + "}\nspec: {models: [{uri: x}, {modelMapRef: {" + ref + "}}]}"
}

func TestCompose(t *testing.T) {
	composetest.Table(t, aimodelmap.Compose, map[string]composetest.Case{
		"Unused": {Composite: modelMap + "spec: {vllm: [{variant: a}, {variant: b}], tensor_rt: [{variant: c}]}", Reason: reason.Available},
		"Users": {
			Composite: modelMap + "spec: {vllm: [{variant: a}], access: {namespaces: [other]}}",
			Required: map[string][]string{
				"users-ns":    {user("ns", "b", "name: m.1, variant: a"), user("ns", "a", "name: m.1, namespace: ns"), user("ns", "c", "name: m.2"), user("ns", "d", "name: m.1, namespace: other")},
				"users-other": {user("other", "x", "name: m.1, namespace: ns"), user("other", "y", "name: m.1")},
			},
			Reason: reason.Available,
		},
	})
}

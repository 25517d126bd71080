package aideployment_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/reason"
)

// Names of resolved models were those of maps or URIs, whatever the endpoint served.
func TestResolvedNamesAreThoseOfTheEndpoint(t *testing.T) {
	const volume = ", modelSource: {pvc: {claimName: c}}"
	for spec, want := range map[string]string{
		vllm: "org/repo",
		"engine: {name: ollama}, models: [{uri: qwen3}]":                                                                              "qwen3:latest",
		"engine: {name: ollama, options: {servedName: chat}}, models: [{uri: 'qwen3:8b'}]":                                            "chat:latest",
		"engine: {name: ollama}, models: [{uri: org/repo/Modelfile}]" + volume:                                                        "d:latest",
		"engine: {name: llama.cpp}, models: [{uri: a/m.gguf}]" + volume:                                                               "d",
		"engine: {name: tgi}, models: [{uri: org/repo}]" + volume:                                                                     "/models/org/repo",
		"engine: {name: deepspeed-mii, options: {imageTag: v1}}, models: [{uri: org/repo}]":                                           "default",
		"engine: {name: localai}, models: [{uri: 'localai@phi-2'}, {engineConfigFile: 'name: bert'}, {uri: 'https://h/m.gguf'}]":      "phi-2 bert https://h/m.gguf",
		"engine: {name: triton}, models: [{uri: 'https://h/resnet.onnx'}]":                                                            "resnet",
		"engine: {name: ollama, options: {servedName: chat}}, models: [{uri: 'qwen3:8b'}], gateway: {}":                               "ns/d",
		"engine: {name: distributed-llama}, models: [{uri: org/repo}]":                                                                "ns/d",
		"engine: {name: localai}, models: [{modelMapRef: {name: m, variant: a}}, {modelMapRef: {name: m, variant: b}}]":               "m-a m-b",
		"engine: {name: localai}, models: [{modelMapRef: {name: m, variant: a}}, {modelMapRef: {name: m, variant: b, namespace: x}}]": "m-a m-b",
		"engine: {name: localai}, models: [{modelMapRef: {name: m, variant: a}}, {modelMapRef: {name: m, variant: a, namespace: x}}]": "ns-m-a x-m-a",
		"engine: {name: localai}, models: [{engineConfigFile: '[{name: bert}, {name: phi}]'}]":                                        "bert phi",
	} {
		rsp := run(t, composetest.Case{Composite: claim(spec), Required: map[string][]string{
			"map-x/m":  {"metadata: {name: m, namespace: x}\nspec: {access: {namespaces: [ns]}, localai: [{variant: a, uri: 'https://h/x.gguf'}, {variant: b, uri: 'https://h/y.gguf'}]}"},
			"map-ns/m": {"metadata: {name: m, namespace: ns}\nspec: {localai: [{variant: a, uri: 'https://h/a.gguf'}, {variant: b, uri: 'https://h/b.gguf'}]}"},
		}})
		var got []string
		for _, m := range status(t, rsp).ResolvedModels {
			got = append(got, m.Name)
		}
		if d := cmp.Diff(want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s:\n%s", spec, d)
		}
	}
}

// A served name had no effect on Ollama.
func TestServedNameOfOllama(t *testing.T) {
	_, c := deployment(t, run(t, composetest.Case{Composite: claim("engine: {name: ollama, options: {servedName: chat}}, models: [{uri: 'qwen3:8b'}]")}))
	for name, want := range map[string]string{"KOLDUN_OLLAMA_MODEL": "qwen3:8b", "KOLDUN_OLLAMA_NAME": "chat:latest"} {
		if got := variable(c, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func variable(c corev1.Container, name string) string {
	for _, e := range c.Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

// The folder of a download that had not ended yet was served.
func TestWaitsForTheDownload(t *testing.T) {
	const spec = "engine: {name: vllm}, models: [{uri: org/repo/sub}], modelSource: {modelDownloadRef: {name: all}}"
	all := func(models, completed string) composetest.Case {
		return composetest.Case{Composite: claim(spec), Required: map[string][]string{
			"download": {"metadata: {name: all, namespace: ns}\nspec: {storagePVC: c, models: [" + models + "]}\nstatus: {completed: [" + completed + "]}"},
		}}
	}
	for _, models := range []string{"{name: org/repo}", "{name: other/repo, subPath: org/repo}"} {
		refused(t, run(t, all(models, "")), reason.ModelPending, "has not completed model")
	}
	for models, completed := range map[string]string{"{name: org/repo}": "org/repo", "{name: org/re}": "", "{name: other/repo, subPath: org/repo}": "other/repo"} {
		deployment(t, run(t, all(models, completed)))
	}
	serves := all("{name: org/repo}", "")
	serves.Composite += "status: {resolvedModels: [{name: x, uri: org/repo/sub}]}\n"
	serves.Observed = map[string]string{"deployment": onePod}
	if rsp := run(t, serves); status(t, rsp).Phase != "Ready" {
		t.Errorf("what serves a model that is loaded again has the conditions %v", rsp.GetConditions())
	}
}

// A new model was rolled out before its download had ended, and what is around a
// Deployment that someone had deleted was deleted, too.
func TestKeepsUntilTheDownload(t *testing.T) {
	const spec = "engine: {name: vllm}, autoscaling: {minReplicas: 1, maxReplicas: 3}, endpoint: [{domain: a.b}], modelSource: {modelDownloadRef: {name: all}}, models: [{uri: org/"
	download := func(completed string) map[string][]string {
		return map[string][]string{"download": {"metadata: {name: all, namespace: ns}\nspec: {storagePVC: c, models: [{name: org/old}, {name: org/new}]}\nstatus: {completed: [" + completed + "]}"}}
	}
	was := observed(t, run(t, composetest.Case{Composite: claim(spec + "old}]"), Required: download("org/old")}))
	was["deployment"] = strings.TrimSuffix(was["deployment"], "}") + `, "status": {"replicas": 1, "readyReplicas": 1}}`
	before := "status: {resolvedModels: [{name: org/old, uri: org/old}]}\n"
	rsp := run(t, composetest.Case{Composite: claim(spec+"new}]") + before, Observed: was, Required: download("org/old")})
	refused(t, rsp, reason.ModelPending, "has not completed model")
	if _, c := deployment(t, rsp); !strings.Contains(strings.Join(append(c.Command, c.Args...), " "), "org/old") {
		t.Errorf("the pods get %q before the model is there", c.Args)
	}
	delete(was, "deployment")
	rsp = run(t, composetest.Case{Composite: claim(spec+"old}]") + before, Observed: was, Required: download("")})
	refused(t, rsp, reason.ModelPending, "has not completed model")
	for _, res := range []string{"service", "ingress", "autoscaler"} {
		if rsp.GetDesired().GetResources()[res] == nil {
			t.Errorf("the %s is deleted while the Deployment is missing", res)
		}
	}
}

package render

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/internal/names"
)

// TestEnvironmentReachesAllPods tests that env and envFrom of the kinds of other systems
// are those of all containers that are composed. Those with connections take over the
// variables of envFrom by themselves.
func TestEnvironmentReachesAllPods(t *testing.T) {
	const env = "env: [{name: HTTPS_PROXY, value: 'http://proxy:3128'}], envFrom: [{secretRef: {name: shared}}]"
	schemas, err := validation.Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		kind, spec string
		pods       []string // kinds and containers
	}{
		"Alone":   {"AIDeployment", "engine: {name: vllm}, models: [{uri: o/m}], " + env, []string{"Deployment serving"}},
		"Prepare": {"AIDeployment", "engine: {name: ollama}, models: [{uri: 'qwen3:0.6b'}], " + env, []string{"Deployment prepare", "Deployment serving"}},
		"Gateway": {"AIDeployment", "engine: {name: vllm}, models: [{uri: o/m}], gateway: {}, " + env, []string{"Deployment dispatcher", "Deployment gateway", "StatefulSet engine", "StatefulSet llm"}},
		"Distributed": {
			"AIDeployment", "engine: {name: distributed-llama, nodes: 2}, models: [{uri: o/m}], " + env,
			[]string{"Deployment dispatcher", "Deployment gateway", "Job convert", "Job fetch", "StatefulSet engine", "StatefulSet fetch", "StatefulSet install", "StatefulSet llm", "StatefulSet worker"},
		},
		"Takeoff": {"ModelOrchestra", "gateway: {" + env + "}, applicationTemplate: {" + env + "}, applications: {a: {}}", []string{"Deployment gateway", "Deployment reader"}},
		"Koldun": {
			"ModelOrchestra", "backend: Koldun, gateway: {" + env + "}, applicationTemplate: {" + env + "}, applications: {a: {nodes: 2, readerConfig: {modelName: o/m}}, b: {engine: {type: openai, server: {url: 'http://h/v1'}}}}",
			[]string{"Deployment dispatcher", "Deployment gateway", "Job convert", "Job fetch", "StatefulSet engine", "StatefulSet fetch", "StatefulSet install", "StatefulSet llm", "StatefulSet worker"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := render(t, schemas, "", "apiVersion: koldun.gorizond.io/v1\nkind: "+c.kind+"\nmetadata: {name: d, namespace: default}\nspec: {"+c.spec+"}\n")
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]bool{}
			for _, w := range workloads(t, out) {
				pod := w.Spec.Template.Spec
				for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
					found[w.Kind+" "+container.Name] = true
					proxied := slices.ContainsFunc(container.Env, func(e corev1.EnvVar) bool { return e.Name == "HTTPS_PROXY" && e.Value == "http://proxy:3128" })
					shared := slices.ContainsFunc(container.EnvFrom, func(s corev1.EnvFromSource) bool { return s.SecretRef != nil && s.SecretRef.Name == "shared" })
					prefixed := slices.ContainsFunc(container.EnvFrom, func(s corev1.EnvFromSource) bool { return s.Prefix == names.EnvClaim && s.SecretRef.Name == "shared" })
					connected := slices.Contains([]string{"convert", "dispatcher", "fetch", "gateway", "llm"}, container.Name) && c.kind+name != "ModelOrchestraTakeoff"
					if !proxied || !shared || prefixed != connected {
						t.Errorf("%s %q: container %q has variables %v and sources %v", w.Kind, w.Name, container.Name, container.Env, container.EnvFrom)
					}
				}
			}
			if diff := cmp.Diff(c.pods, slices.Sorted(maps.Keys(found))); diff != "" {
				t.Errorf("containers differ (-want +got):\n%s", diff)
			}
		})
	}
}

// A podOwner is a Deployment, StatefulSet or Job.
type podOwner struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Template corev1.PodTemplateSpec `json:"template"`
	} `json:"spec"`
}

// workloads returns the Deployments, StatefulSets and Jobs of rendered objects.
func workloads(t *testing.T, rendered string) []podOwner {
	t.Helper()
	var out []podOwner
	for _, document := range strings.Split(rendered, "\n---\n") {
		var of metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &of); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains([]string{"Deployment", "StatefulSet", "Job"}, of.Kind) {
			continue
		}
		var w podOwner
		if err := yaml.Unmarshal([]byte(document), &w); err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

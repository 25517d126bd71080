package aideployment_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/aideployment"
	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/reason"
)

const head = "apiVersion: koldun.gorizond.io/v1\nkind: AIDeployment\nmetadata: {name: d, namespace: ns, generation: 2}\n"

// claim is an AIDeployment with a spec in flow style.
func claim(spec string) string { return head + "spec: {" + spec + "}\n" }

func run(t *testing.T, c composetest.Case) *fnv1.RunFunctionResponse {
	t.Helper()
	return composetest.Run(t, aideployment.Compose, c)
}

// desired decodes a desired object; false if there is none.
func desired(t *testing.T, rsp *fnv1.RunFunctionResponse, name string, into any) bool {
	t.Helper()
	r, ok := rsp.GetDesired().GetResources()[name]
	if !ok {
		return false
	}
	decode(t, r.GetResource().AsMap(), into)
	return true
}

func decode(t *testing.T, from map[string]any, into any) {
	t.Helper()
	raw, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func deployment(t *testing.T, rsp *fnv1.RunFunctionResponse) (appsv1.Deployment, corev1.Container) {
	t.Helper()
	var d appsv1.Deployment
	if !desired(t, rsp, "deployment", &d) {
		t.Fatalf("there is no Deployment; conditions are %v", rsp.GetConditions())
	}
	containers := d.Spec.Template.Spec.Containers
	i := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == "serving" })
	if i < 0 {
		t.Fatalf("no container is called serving: %v", containers)
	}
	return d, containers[i]
}

func status(t *testing.T, rsp *fnv1.RunFunctionResponse) (out v1.AIDeploymentStatus) {
	t.Helper()
	m, _ := rsp.GetDesired().GetComposite().GetResource().AsMap()["status"].(map[string]any)
	decode(t, m, &out)
	return out
}

func serving(rsp *fnv1.RunFunctionResponse) (why, message string) {
	for _, c := range rsp.GetConditions() {
		if c.GetType() == v1.ConditionServing {
			return c.GetReason(), c.GetMessage()
		}
	}
	return "", ""
}

// refused wants a final reason with a text.
func refused(t *testing.T, rsp *fnv1.RunFunctionResponse, why reason.Reason, says string) {
	t.Helper()
	got, message := serving(rsp)
	if got != string(why) || !strings.Contains(message, says) {
		t.Errorf("Serving has reason %q and message %q, want %q and %q", got, message, why, says)
	}
}

const (
	vllm   = "engine: {name: vllm}, models: [{uri: org/repo}]"
	cuda   = "accelerator: {interface: CUDA}"
	onePod = "metadata: {generation: 1}\nstatus: {observedGeneration: 1, replicas: 1, readyReplicas: 1}"
)

// engines are claims for all engines that run alone.
func engines() map[string]string {
	return map[string]string{
		"vllm": vllm, "sglang": "engine: {name: sglang}, models: [{uri: org/repo}]", "tgi": "engine: {name: tgi}, models: [{uri: org/repo}]",
		"llama.cpp": "engine: {name: llama.cpp}, models: [{uri: 'org/repo:Q4_K_M'}]", "ollama": "engine: {name: ollama}, models: [{uri: 'qwen3:0.6b'}]",
		"localai": "engine: {name: localai}, models: [{uri: phi-2}]", "deepspeed-mii": "engine: {name: deepspeed-mii, options: {imageTag: v1}}, models: [{uri: org/repo}]",
		"triton": "engine: {name: triton}, models: [{uri: 'https://h/repo.tar.gz'}]", "tensorrt-llm": "engine: {name: tensorrt-llm}, models: [{uri: org/repo}]",
		"generic": "engine: {name: generic}, endpoint: [{domain: h, port: 9000}]",
	}
}

// withPods is a claim with fields of the Deployment. A generic engine has a
// container in any case.
func withPods(engine, spec, pods, container string) string {
	if engine != "generic" && container == "" {
		return claim(spec + ", deployment: {" + pods + "}")
	}
	image := ""
	if engine == "generic" {
		image = "image: i, "
	}
	return claim(spec + ", deployment: {template: {spec: {containers: [{name: serving, " + image + container + "}]}}, " + pods + "}")
}

func TestEnginesAlone(t *testing.T) {
	cases := map[string]composetest.Case{}
	for name, spec := range engines() {
		cases["Alone-"+name] = composetest.Case{Composite: withPods(name, spec, "", ""), Reason: reason.DeploymentStarting, Says: "no ready pod"}
	}
	composetest.Table(t, aideployment.Compose, cases)
}

// Prem-Operator gave env to three engines only, so that others had no token.
func TestEnvOnEveryEngine(t *testing.T) {
	for name, spec := range engines() {
		_, c := deployment(t, run(t, composetest.Case{Composite: withPods(name, spec+", env: [{name: HF_TOKEN, valueFrom: {secretKeyRef: {name: s, key: k}}}]", "", "")}))
		if !slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "HF_TOKEN" && e.ValueFrom.SecretKeyRef.Name == "s" }) {
			t.Errorf("%s: the variable is missing: %v", name, c.Env)
		}
	}
}

// Its vLLM ignored deployment.template.
func TestTemplateOnEveryEngine(t *testing.T) {
	for name, spec := range engines() {
		d, c := deployment(t, run(t, composetest.Case{Composite: claim(spec + ", args: [--last], deployment: {template: {metadata: {labels: {team: a}, annotations: {x: z}}, spec: {hostNetwork: true, " +
			"containers: [{name: serving, image: mine, volumeMounts: [{name: data, mountPath: /data}]}, {name: beside, image: b}], volumes: [{name: data, emptyDir: {}}]}}}")}))
		spec := d.Spec.Template.Spec
		if !spec.HostNetwork || c.Image != "mine" || len(spec.Containers) != 2 || d.Spec.Template.Labels["team"] != "a" || d.Spec.Template.Annotations["x"] != "z" {
			t.Errorf("%s: the template is not merged: %+v", name, d.Spec.Template)
		}
		if c.Args[len(c.Args)-1] != "--last" {
			t.Errorf("%s: the arguments are %q", name, c.Args)
		}
	}
}

func TestTemplateIsRead(t *testing.T) {
	refused(t, run(t, composetest.Case{Composite: claim(vllm + ", deployment: {template: {spec: {containerz: []}}}")}), reason.DeploymentInvalid, `unknown field "containerz"`)
	refused(t, run(t, composetest.Case{Composite: claim("engine: {name: generic}, endpoint: [{domain: h, port: 1}], deployment: {template: {spec: {}}}")}), reason.DeploymentInvalid, "no container")
}

// Its operator panicked on an override of a probe that the container lacks.
func TestProbeOverrideWithoutProbe(t *testing.T) {
	_, c := deployment(t, run(t, composetest.Case{Composite: withPods("generic", engines()["generic"], "readinessProbe: {periodSeconds: 7}, livenessProbe: {terminationGracePeriodSeconds: 9}", "")}))
	if c.ReadinessProbe == nil || c.ReadinessProbe.TCPSocket == nil || c.ReadinessProbe.TCPSocket.Port.IntVal != 9000 || c.ReadinessProbe.PeriodSeconds != 7 {
		t.Errorf("the probe is %+v", c.ReadinessProbe)
	}
	if n := c.LivenessProbe.TerminationGracePeriodSeconds; n == nil || *n != 9 { // it ignored this number
		t.Errorf("the probe is %+v", c.LivenessProbe)
	}
}

func TestProbeOverride(t *testing.T) {
	_, c := deployment(t, run(t, composetest.Case{Composite: claim(vllm + ", deployment: {startupProbe: {failureThreshold: 3}, readinessProbe: {initialDelaySeconds: 0, successThreshold: 2}}")}))
	if c.StartupProbe.FailureThreshold != 3 || c.StartupProbe.PeriodSeconds != 10 || c.ReadinessProbe.SuccessThreshold != 2 {
		t.Errorf("the probes are %+v and %+v", c.StartupProbe, c.ReadinessProbe)
	}
	refused(t, run(t, composetest.Case{Composite: claim(vllm + ", deployment: {livenessProbe: {successThreshold: 2}}")}), reason.DeploymentInvalid, "livenessProbe.successThreshold")
}

// Its Service got port 0.
func TestGenericWithoutPort(t *testing.T) {
	const engine = "engine: {name: generic}"
	refused(t, run(t, composetest.Case{Composite: withPods("generic", engine, "", "")}), reason.DeploymentInvalid, "the port is missing")
	for container, want := range map[string]int32{
		"ports: [{containerPort: 80}]":                                    80,
		"livenessProbe: {httpGet: {path: /, port: 11434}}":                11434,
		"ports: [{containerPort: 1}], startupProbe: {httpGet: {port: 2}}": 1,
	} {
		var s corev1.Service
		if !desired(t, run(t, composetest.Case{Composite: withPods("generic", engine, "", container)}), "service", &s) || s.Spec.Ports[0].Port != want {
			t.Errorf("%s: the Service is %+v", container, s.Spec)
		}
	}
}

// It left the Ingress of removed endpoints.
func TestEndpointRemovalPrunes(t *testing.T) {
	with := run(t, composetest.Case{Composite: claim(vllm + ", endpoint: [{domain: a.b, path: /x/}, {domain: c.d}], ingress: {tls: true}")})
	var i networkingv1.Ingress
	if !desired(t, with, "ingress", &i) || len(i.Spec.Rules) != 2 || i.Spec.TLS[0].SecretName != "d-tls" {
		t.Errorf("the Ingress is %+v", i.Spec)
	}
	if d := cmp.Diff([]string{"https://a.b/x", "https://c.d"}, status(t, with).Endpoints); d != "" {
		t.Error(d)
	}
	without := run(t, composetest.Case{Composite: claim(vllm), Observed: map[string]string{"ingress": "{}"}})
	if desired(t, without, "ingress", &i) {
		t.Error("the Ingress stays")
	}
	route := run(t, composetest.Case{Composite: claim(vllm + ", endpoint: [{domain: a.b}], route: {kind: HTTPRoute, parentRefs: [{name: g}]}")})
	if d := cmp.Diff([]string{"deployment", "http-route", "pods", "service"}, composetest.Names(route)); d != "" {
		t.Error(d)
	}
}

func mapped(variant, spec string) composetest.Case {
	return composetest.Case{
		Composite: claim("engine: {name: vllm}, models: [{modelMapRef: {name: m-1.1b, variant: " + variant + "}}]"),
		Required:  map[string][]string{"map-ns/m-1.1b": {"metadata: {name: m-1.1b, namespace: ns}\nspec: {" + spec + "}"}},
	}
}

// It watched no maps: pods kept the model that the map had first. Names of maps have
// dots.
func TestMapEditRollsPodsOfDottedMap(t *testing.T) {
	before, _ := deployment(t, run(t, mapped("a", "vllm: [{variant: a, uri: org/one}]")))
	rsp := run(t, mapped("a", "vllm: [{variant: a, uri: org/two, quantization: gptq_marlin, revision: v2}]"))
	after, c := deployment(t, rsp)
	if cmp.Equal(before.Spec.Template, after.Spec.Template) {
		t.Error("the pods stay as they are")
	}
	if text := strings.Join(c.Args, " "); !strings.HasPrefix(text, "org/two --served-model-name=m-1.1b ") || !strings.HasSuffix(text, "--quantization=gptq_marlin --revision=v2") {
		t.Errorf("the arguments are %s", text)
	}
	if d := cmp.Diff([]v1.AIResolvedModel{{Name: "m-1.1b", ModelMap: "ns/m-1.1b", Variant: "a", URI: "org/two", Revision: "v2", Quantization: "gptq_marlin"}}, status(t, rsp).ResolvedModels); d != "" {
		t.Error(d)
	}
	if rsp.GetRequirements().GetResources()["map-ns/m-1.1b"].GetMatchName() != "m-1.1b" {
		t.Error("the map is not required, so its changes are not seen")
	}
}

func TestMapRefused(t *testing.T) {
	refused(t, run(t, mapped("b", "vllm: [{variant: a, uri: org/one}]")), reason.VariantNotFound, `no variant "b" for engine vllm`)
	missing := mapped("a", "")
	missing.Required["map-ns/m-1.1b"] = nil
	refused(t, run(t, missing), reason.ModelMapNotFound, "does not exist")
}

// It read the maps of all namespaces.
func TestMapOfAnotherNamespaceNeedsGrant(t *testing.T) {
	for access, want := range map[string]reason.Reason{"": reason.ModelMapNotFound, "access: {namespaces: [ns]},": reason.DeploymentStarting} {
		rsp := run(t, composetest.Case{
			Composite: claim("engine: {name: vllm}, models: [{modelMapRef: {namespace: other, name: m, variant: a}}]"),
			Required:  map[string][]string{"map-other/m": {"metadata: {name: m, namespace: other}\nspec: {" + access + " vllm: [{variant: a, uri: org/one}]}"}},
		})
		if got, message := serving(rsp); got != string(want) {
			t.Errorf("with %q the reason is %s: %s, want %s", access, got, message, want)
		}
	}
}

// Inline data overrides that of the variant, and options those of the model.
func TestOverrides(t *testing.T) {
	c := mapped("a", "vllm: [{variant: a, uri: org/one, dataType: float16, quantization: awq}]")
	c.Composite = claim("engine: {name: vllm, options: {dtype: auto, servedName: my, imageTag: v1}}, models: [{modelMapRef: {name: m-1.1b, variant: a}, quantization: gptq}]")
	_, pod := deployment(t, run(t, c))
	if text := strings.Join(pod.Args, " "); !strings.Contains(text, "org/one --served-model-name=my ") || !strings.HasSuffix(text, "--dtype=auto --quantization=gptq") || pod.Image != "vllm/vllm-openai:v1" {
		t.Errorf("image %s has the arguments %s", pod.Image, text)
	}
}

// Two models at URLs made two init containers of one name, which wrote one file; an
// inline configuration waited for a ConfigMap that was never created.
func TestTwoModelsAtURLsAndInlineConfig(t *testing.T) {
	const models = "engine: {name: localai}, models: [{uri: 'https://a/m.gguf'}, {uri: 'https://b/m.gguf?download=true'}, {engineConfigFile: \"name: bert\\nf16: true\\nsize: 1000000\\n\"}, {uri: phi-2}]"
	rsp := run(t, composetest.Case{Composite: claim(models)})
	d, c := deployment(t, rsp)
	var config corev1.ConfigMap
	if !desired(t, rsp, "config", &config) || config.Name != "d-config" {
		t.Fatal("there is no ConfigMap")
	}
	var entries []map[string]any
	if err := json.Unmarshal([]byte(config.Data["models.yaml"]), &entries); err != nil || len(entries) != 3 {
		t.Fatalf("the configuration is %s: %v", config.Data["models.yaml"], err)
	}
	files := map[any]bool{}
	for _, e := range entries[:2] {
		files[e["parameters"].(map[string]any)["model"]] = true
	}
	if len(files) != 2 || entries[2]["name"] != "bert" || !strings.Contains(config.Data["models.yaml"], `"size": 1000000`) {
		t.Errorf("the configuration is %s", config.Data["models.yaml"])
	}
	if c.Args[0] != "phi-2" || len(d.Spec.Template.Spec.InitContainers) != 0 {
		t.Errorf("the arguments are %q", c.Args)
	}
	changed, _ := deployment(t, run(t, composetest.Case{Composite: claim(strings.Replace(models, "name: bert", "name: bart", 1))}))
	if sum := d.Spec.Template.Annotations[v1.AnnotationConfig]; sum == "" || sum == changed.Spec.Template.Annotations[v1.AnnotationConfig] {
		t.Errorf("pods keep checksum %q when their configuration changes", sum)
	}
	refused(t, run(t, composetest.Case{Composite: claim("engine: {name: localai}, models: [{engineConfigFile: '['}]")}), reason.DeploymentInvalid, "engineConfigFile")
}

func TestTwoModelsOfTriton(t *testing.T) {
	d, _ := deployment(t, run(t, composetest.Case{Composite: claim("engine: {name: triton}, models: [{uri: 'https://a/m.onnx'}, {uri: 'https://b/m.tar.gz'}]")}))
	init := d.Spec.Template.Spec.InitContainers
	if len(init) != 1 || strings.Contains(init[0].Command[2], "https://") || strings.Count(init[0].Command[2], "get \"$") != 2 {
		t.Errorf("the init containers are %+v", init)
	}
}

// errMsg stayed after recovery, and without an endpoint NotReady stayed too. A Deployment
// that an autoscaler has just scaled was NotReady, though it serves on.
func TestStatusFollowsTheDeployment(t *testing.T) {
	const before = "status: {status: Failed, errMsg: old}\n"
	const broken = "metadata: {generation: 1}\nstatus: {observedGeneration: 1, conditions: [{type: ReplicaFailure, status: 'True', message: quota}]}"
	for observed, want := range map[string]v1.AIDeploymentStatus{
		"{}":   {Phase: "NotReady"},
		onePod: {Phase: "Ready", Replicas: 1, ReadyReplicas: 1},
		broken: {Phase: "Failed", ErrMsg: `Deployment "d" has no ready pod: quota`},
		strings.Replace(onePod, "generation: 1", "generation: 2", 1): {Phase: "Ready", Replicas: 1, ReadyReplicas: 1},
	} {
		got := status(t, run(t, composetest.Case{Composite: claim(vllm) + before, Observed: map[string]string{"deployment": observed}}))
		if got.Phase != want.Phase || got.ErrMsg != want.ErrMsg || got.Replicas != want.Replicas || got.ReadyReplicas != want.ReadyReplicas {
			t.Errorf("%s gives status %q, %q with %d of %d pods", observed, got.Phase, got.ErrMsg, got.ReadyReplicas, got.Replicas)
		}
	}
}

// It wrote the replicas in each pass, against autoscalers.
func TestAutoscalerIsNotFought(t *testing.T) {
	for spec, want := range map[string]string{"": "none", ", deployment: {replicas: 3}": "3", ", autoscaling: {minReplicas: 2, maxReplicas: 5}": "none"} {
		rsp := run(t, composetest.Case{Composite: claim(vllm + spec)})
		d, _ := deployment(t, rsp)
		got := "none"
		if d.Spec.Replicas != nil {
			got = string('0' + *d.Spec.Replicas)
		}
		var h autoscalingv2.HorizontalPodAutoscaler
		if scaled := desired(t, rsp, "autoscaler", &h); got != want || scaled != strings.Contains(spec, "autoscaling") {
			t.Errorf("%q gives %s replicas, and an autoscaler: %v", spec, got, scaled)
		}
	}
}

// Its Service selected by all labels, so that an edit took it from all pods.
func TestLabelEditKeepsTheServiceServing(t *testing.T) {
	var before, after corev1.Service
	old := run(t, composetest.Case{Composite: claim(vllm)})
	desired(t, old, "service", &before)
	rsp := run(t, composetest.Case{Composite: claim(vllm + ", deployment: {labels: {team: a, koldun.gorizond.io/ai-deployment: other}}")})
	desired(t, rsp, "service", &after)
	if d := cmp.Diff(before.Spec, after.Spec); d != "" {
		t.Errorf("the Service changes:\n%s", d)
	}
	d, _ := deployment(t, rsp)
	for key, value := range after.Spec.Selector {
		if d.Spec.Template.Labels[key] != value || d.Spec.Selector.MatchLabels[key] != value {
			t.Errorf("the pods have labels %v, and the Service selects %v", d.Spec.Template.Labels, after.Spec.Selector)
		}
	}
}

// Names of 63 characters, and names that differ only in what no label may have.
func TestNames(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"a.b", "a-b", strings.Repeat("x", 63), strings.Repeat("x", 62) + ".y", strings.Repeat("x", 63) + "z"} {
		rsp := run(t, composetest.Case{Composite: strings.Replace(claim("engine: {name: localai}, models: [{uri: 'https://h/m.gguf'}]"), "name: d,", "name: "+name+",", 1)})
		for _, res := range []string{"deployment", "service", "config"} {
			var o struct{ Metadata struct{ Name string } }
			desired(t, rsp, res, &o)
			key := res + " " + o.Metadata.Name
			if len(o.Metadata.Name) > 63 || strings.ContainsAny(o.Metadata.Name, "._") || seen[key] != "" {
				t.Errorf("%q composes %s, as %q does", name, key, seen[key])
			}
			seen[key] = name
		}
	}
}

// minVersion was never used.
func TestMinVersionSelectsNodes(t *testing.T) {
	terms := func(pods string) []corev1.NodeSelectorTerm {
		d, c := deployment(t, run(t, composetest.Case{Composite: claim(vllm + ", deployment: {" + pods + "}")}))
		if n := c.Resources.Limits["nvidia.com/gpu"]; n.Value() != 1 || *d.Spec.Template.Spec.RuntimeClassName != "nvidia" {
			t.Errorf("the pods have %s GPUs", n.String())
		}
		return d.Spec.Template.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	if got := terms("accelerator: {interface: CUDA, minVersion: {major: 8}}"); len(got) != 1 || got[0].MatchExpressions[0].Operator != "Gt" || got[0].MatchExpressions[0].Values[0] != "7" {
		t.Errorf("8.0 selects %v", got)
	}
	got := terms("accelerator: {interface: CUDA, minVersion: {major: 8, minor: 6}}, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}")
	if len(got) != 2 || len(got[0].MatchExpressions) != 2 || len(got[1].MatchExpressions) != 3 {
		t.Errorf("8.6 selects %v", got)
	}
}

func TestGPUs(t *testing.T) {
	d, c := deployment(t, run(t, composetest.Case{Composite: claim(vllm + ", deployment: {" + cuda + ", resources: {requests: {nvidia.com/gpu: 4}}}")}))
	if n := c.Resources.Limits["nvidia.com/gpu"]; n.Value() != 4 || !slices.Contains(c.Args, "--tensor-parallel-size=4") {
		t.Errorf("the limits are %v, the arguments %q", c.Resources.Limits, c.Args)
	}
	_ = d
	d, c = deployment(t, run(t, composetest.Case{Composite: claim(vllm + ", deployment: {accelerator: {interface: ROCm}}")}))
	if n := c.Resources.Limits["amd.com/gpu"]; n.Value() != 1 || d.Spec.Template.Spec.RuntimeClassName != nil {
		t.Errorf("the limits are %v", c.Resources.Limits)
	}
}

func TestModelSource(t *testing.T) {
	d, c := deployment(t, run(t, composetest.Case{
		Composite: claim(vllm + ", modelSource: {modelDownloadRef: {name: all}}"),
		Required:  map[string][]string{"download": {"metadata: {name: all, namespace: ns}\nspec: {storagePVC: claim, models: []}"}},
	}))
	i := slices.IndexFunc(d.Spec.Template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "models" })
	if v := d.Spec.Template.Spec.Volumes[i]; v.PersistentVolumeClaim == nil || v.PersistentVolumeClaim.ClaimName != "claim" || c.Args[0] != "$(KOLDUN_DIR_MODELS)/org/repo" {
		t.Errorf("the volume is %+v, the arguments are %q", v, c.Args)
	}
	refused(t, run(t, composetest.Case{Composite: claim(vllm + ", modelSource: {modelDownloadRef: {name: all}}"), Required: map[string][]string{"download": nil}}), reason.ModelNotFound, `"all"`)
	refused(t, run(t, composetest.Case{Composite: claim("engine: {name: llama.cpp}, models: [{uri: folder}], modelSource: {pvc: {claimName: c}}")}), reason.DeploymentInvalid, ".gguf")
}

// What serves goes on while the claim cannot be used.
func TestMistakesKeepWhatServes(t *testing.T) {
	good := run(t, composetest.Case{Composite: claim(vllm + ", endpoint: [{domain: a.b}]")})
	observed := map[string]string{}
	for name, r := range good.GetDesired().GetResources() {
		raw, err := r.GetResource().MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		observed[name] = string(raw)
	}
	rsp := run(t, composetest.Case{Composite: claim("engine: {name: vllm}, models: [{modelMapRef: {name: gone, variant: a}}], endpoint: [{domain: a.b}]"), Observed: observed, Required: map[string][]string{"map-ns/gone": nil}})
	if d := cmp.Diff(composetest.Names(good), composetest.Names(rsp)); d != "" {
		t.Errorf("what is composed changes:\n%s", d)
	}
	was, _ := deployment(t, good)
	now, _ := deployment(t, rsp)
	if d := cmp.Diff(was, now); d != "" {
		t.Errorf("the Deployment changes:\n%s", d)
	}
}

func TestQueued(t *testing.T) {
	composetest.Table(t, aideployment.Compose, map[string]composetest.Case{
		"Gateway":        {Composite: claim("engine: {name: ollama}, models: [{uri: 'qwen3:0.6b'}], endpoint: [{domain: a.b}], gateway: {}, env: [{name: A, value: b}]"), Reason: reason.DllamasStarting, Says: `"d"`},
		"GatewayReady":   {Composite: claim(vllm + ", gateway: {allowAnonymous: true, slots: 4}, deployment: {" + cuda + "}"), Observed: map[string]string{"dllama": "status: {url: 'http://u/v1', model: ns/d, conditions: [{type: Serving, status: 'True', reason: Available}]}"}, Reason: reason.Available, Says: "ns/d"},
		"GatewayFailed":  {Composite: claim(vllm + ", gateway: {}"), Observed: map[string]string{"dllama": "status: {conditions: [{type: Serving, status: 'False', reason: TopologyInvalid, message: odd}]}"}, Reason: reason.DeploymentFailed, Says: "TopologyInvalid: odd"},
		"GatewayFiles":   {Composite: claim("engine: {name: ollama}, models: [{uri: m.gguf}], gateway: {}, modelSource: {pvc: {claimName: c}}"), Reason: reason.DllamasStarting},
		"GatewayRefused": {Composite: claim(vllm + ", gateway: {}, deployment: {labels: {a: b}}"), Reason: reason.DeploymentInvalid, Says: "spec.deployment.labels"},
		"Distributed":    {Composite: claim("engine: {name: distributed-llama, nodes: 4}, models: [{uri: org/repo, revision: main, quantization: q80}], args: ['--x', z]"), Reason: reason.DllamasStarting},
		"GatewayEnv":     {Composite: claim(vllm + ", gateway: {}, env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]"), Reason: reason.DeploymentInvalid, Says: "spec.env: A: behind the gateway of Koldun"},
		"GatewayEnvOwn":  {Composite: claim(vllm + ", gateway: {}, env: [{name: KOLDUN_X, value: b}]"), Reason: reason.DeploymentInvalid, Says: "spec.env: KOLDUN_X: names that begin with KOLDUN_"},
		"GatewayEnvName": {Composite: claim(vllm + ", gateway: {}, env: [{name: a.b, value: b}]"), Reason: reason.DeploymentInvalid, Says: "spec.env: a.b: a name has letters"},
		"GatewayEnvLong": {Composite: claim(vllm + ", gateway: {}, env: [{name: A, value: " + strings.Repeat("x", 4097) + "}]"), Reason: reason.DeploymentInvalid, Says: "spec.env: A: the value is longer"},
		"GatewayEnvFrom": {Composite: claim(vllm + ", gateway: {}, envFrom: [{configMapRef: {name: c}}], env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}]"), Reason: reason.DllamasStarting},
	})
}

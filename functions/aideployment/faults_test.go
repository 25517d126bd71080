package aideployment_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/reason"
)

// observed is what a composition desires, as it is when all of it exists.
func observed(t *testing.T, rsp *fnv1.RunFunctionResponse) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, r := range rsp.GetDesired().GetResources() {
		raw, err := json.Marshal(r.GetResource().AsMap())
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(raw)
	}
	return out
}

// The domains led to a gateway that did not exist when a claim with a mistake asked for
// it, and the status lost what serves.
func TestMistakeBesideGatewayKeepsTheBackend(t *testing.T) {
	const domain = ", endpoint: [{domain: a.b}]"
	missing := map[string][]string{"map-ns/gone": nil}
	for from, want := range map[string]struct {
		service string
		port    int32
		url     string
		to      string
	}{
		"":              {"d", 8000, "http://d.ns.svc.cluster.local:8000", ", gateway: {}"},
		", gateway: {}": {"d-gateway", 8082, "http://u/v1", ""},
	} {
		was := observed(t, run(t, composetest.Case{Composite: claim(vllm + domain + from)}))
		if from != "" {
			was["dllama"] = strings.TrimSuffix(was["dllama"], "}") + `, "status": {"url": "http://u/v1", "conditions": [{"type": "Serving", "status": "True", "reason": "Available"}]}}`
		} else {
			was["deployment"] = strings.TrimSuffix(was["deployment"], "}") + `, "status": {"replicas": 2, "readyReplicas": 1}}`
		}
		rsp := run(t, composetest.Case{
			Composite: claim("engine: {name: vllm}, models: [{modelMapRef: {name: gone, variant: a}}]"+domain+want.to) + "status: {resolvedModels: [{name: m, uri: org/repo}]}\n",
			Observed:  was, Required: missing,
		})
		var i networkingv1.Ingress
		if !desired(t, rsp, "ingress", &i) {
			t.Fatalf("%q: the Ingress is gone", from)
		}
		b := i.Spec.Rules[0].HTTP.Paths[0].Backend.Service
		if b.Name != want.service || b.Port.Number != want.port {
			t.Errorf("%q: the domain leads to %s:%d, want %s:%d", from, b.Name, b.Port.Number, want.service, want.port)
		}
		got := status(t, rsp)
		if got.URL != want.url || got.ReadyReplicas != 1 || len(got.ResolvedModels) != 1 || from == "" && (got.Replicas != 2 || got.Selector == "") {
			t.Errorf("%q: the status is %+v", from, got)
		}
	}
}

// A number of pods that Crossplane gave up became 1 for a moment.
func TestReplicasStayUntilSomeoneScales(t *testing.T) {
	fields := func(manager string) string {
		return "{manager: " + manager + ", operation: Apply, fieldsV1: {'f:spec': {'f:replicas': {}}}}"
	}
	const crossplane = "apiextensions.crossplane.io/composed/abc"
	const scaled = ", autoscaling: {minReplicas: 2, maxReplicas: 9}"
	for name, c := range map[string]struct {
		spec, managers, replicas string
		want                     int32 // 0: none
	}{
		"Crossplane": {scaled, fields(crossplane), "4", 4},
		"Removed":    {"", fields(crossplane), "4", 4},
		"Least":      {scaled, fields(crossplane), "0", 2},
		"Autoscaler": {scaled, fields("kube-controller-manager"), "4", 0},
		"Both":       {"", fields(crossplane) + ", " + fields("kubectl"), "4", 0},
		"Nobody":     {scaled, "", "1", 0},
		"Given":      {", deployment: {replicas: 3}", fields("kubectl"), "4", 3},
	} {
		seen := "metadata: {managedFields: [" + c.managers + "]}\nspec: {replicas: " + c.replicas + "}"
		d, _ := deployment(t, run(t, composetest.Case{Composite: claim(vllm + c.spec), Observed: map[string]string{"deployment": seen}}))
		got := int32(0)
		if d.Spec.Replicas != nil {
			got = *d.Spec.Replicas
		}
		if got != c.want {
			t.Errorf("%s: the Deployment gets %d replicas, want %d", name, got, c.want)
		}
	}
}

// What keeps pods from running was hidden behind a Deployment without ready pods.
func TestPodProblemsReachTheCondition(t *testing.T) {
	watched := func(why, message string) map[string]string {
		return map[string]string{"pods": "status: {atProvider: {reason: " + why + ", message: '" + message + "', pod: d-1}}"}
	}
	for why, phase := range map[reason.Reason]string{reason.ImageUnavailable: "Failed", reason.Unschedulable: "NotReady"} {
		rsp := run(t, composetest.Case{Composite: claim(vllm), Observed: watched(string(why), "it says so")})
		refused(t, rsp, why, "it says so")
		if got := status(t, rsp); got.Phase != phase {
			t.Errorf("%s gives status %s, want %s", why, got.Phase, phase)
		}
	}
	serves := watched("CrashLooping", "an old pod")
	serves["deployment"] = onePod
	refused(t, run(t, composetest.Case{Composite: claim(vllm), Observed: serves}), reason.Available, "vllm serves")
	refused(t, run(t, composetest.Case{
		Composite: claim(vllm + ", gateway: {}"),
		Observed:  map[string]string{"dllama": "status: {conditions: [{type: Serving, status: 'False', reason: ImagePullFailed, message: no route}]}"},
	}), reason.ImagePullFailed, "no route")
}

// A longer startup probe was cut off by the deadline of the Deployment.
func TestDeadlineFollowsTheStartupProbe(t *testing.T) {
	for spec, want := range map[string]int32{
		"": 7800, ", deployment: {startupProbe: {failureThreshold: 2000, periodSeconds: 10, initialDelaySeconds: 5}}": 20605,
	} {
		if d, _ := deployment(t, run(t, composetest.Case{Composite: claim(vllm + spec)})); *d.Spec.ProgressDeadlineSeconds != want {
			t.Errorf("%q gives a deadline of %d s, want %d", spec, *d.Spec.ProgressDeadlineSeconds, want)
		}
	}
}

// template is a claim with a template of pods.
func template(spec string) composetest.Case {
	return composetest.Case{Composite: claim(vllm + ", deployment: {" + cuda + ", template: {spec: {" + spec + "}}}")}
}

// The API server refuses two constraints with one key, and two members of a union.
func TestTemplateReplacesWhatExcludesEachOther(t *testing.T) {
	d, c := deployment(t, run(t, template(`
	topologySpreadConstraints: [{maxSkew: 2, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}],
	volumes: [{name: cache, persistentVolumeClaim: {claimName: c}}],
	containers: [{name: serving, readinessProbe: {exec: {command: [x]}}, env: [{name: HF_HOME, valueFrom: {configMapKeyRef: {name: a, key: b}}}], securityContext: {privileged: true},
	  resources: {limits: {nvidia.com/gpu: 4}}}]`)))
	pod := d.Spec.Template.Spec
	if n := pod.TopologySpreadConstraints; len(n) != 1 || n[0].MaxSkew != 2 {
		t.Errorf("the constraints are %+v", n)
	}
	i := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == "cache" })
	if v := pod.Volumes[i]; v.EmptyDir != nil || v.PersistentVolumeClaim == nil {
		t.Errorf("the volume is %+v", v)
	}
	if p := c.ReadinessProbe; p.HTTPGet != nil || p.Exec == nil || p.PeriodSeconds != 5 {
		t.Errorf("the probe is %+v", p)
	}
	i = slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "HF_HOME" })
	if e := c.Env[i]; e.Value != "" || e.ValueFrom == nil {
		t.Errorf("the variable is %+v", e)
	}
	if s := c.SecurityContext; s.AllowPrivilegeEscalation != nil || !*s.Privileged {
		t.Errorf("the container's security is %+v", s)
	}
	// The number of GPUs of the template was replaced by 1.
	if n := c.Resources.Limits["nvidia.com/gpu"]; n.Value() != 4 || !slices.Contains(c.Args, "--tensor-parallel-size=4") {
		t.Errorf("the container has %s GPUs, and arguments %q", n.String(), c.Args)
	}
}

// Behind the gateway Triton ran the image without its OpenAI-compatible frontend.
func TestTagOfTheImageBehindTheGateway(t *testing.T) {
	var d v1.Dllama
	desired(t, run(t, composetest.Case{Composite: claim("engine: {name: triton, options: {imageRepository: my/triton}}, models: [{uri: m}], modelSource: {pvc: {claimName: c}}, gateway: {}")}), "dllama", &d)
	if want := "my/triton:25.12-vllm-python-py3"; d.Spec.RootImage != want {
		t.Errorf("the image is %q, want %q", d.Spec.RootImage, want)
	}
	refused(t, run(t, composetest.Case{Composite: claim("engine: {name: deepspeed-mii, options: {imageTag: v1}}, models: [{uri: a/b}], gateway: {}")}), reason.DeploymentInvalid, "give imageRepository too")
	refused(t, run(t, composetest.Case{Composite: claim("engine: {name: deepspeed-mii}, models: [{uri: a/b}]")}), reason.DeploymentInvalid, "spec.engine.options.imageTag: give the version")
}

// A pinned revision was ignored by engines that take none.
func TestRevisionIsNotIgnored(t *testing.T) {
	for _, engine := range []string{"name: ollama}, models: [{uri: qwen3", "name: localai}, models: [{uri: phi-2", "name: tensorrt-llm}, models: [{uri: a/b"} {
		for _, gateway := range []string{"", ", gateway: {}"} {
			refused(t, run(t, composetest.Case{Composite: claim("engine: {" + engine + ", revision: v1}]" + gateway)}), reason.DeploymentInvalid, "takes no revision")
		}
	}
}

// LocalAI did not find files in folders of the volume.
func TestFileInFolderOfTheVolume(t *testing.T) {
	var config corev1.ConfigMap
	desired(t, run(t, composetest.Case{Composite: claim("engine: {name: localai}, models: [{uri: a/b/m.gguf}], modelSource: {pvc: {claimName: c}}")}), "config", &config)
	if !strings.Contains(config.Data["models.yaml"], `"model": "a/b/m.gguf"`) {
		t.Errorf("the configuration is %s", config.Data["models.yaml"])
	}
}

// A Service must not begin with a digit: its API server refused it.
func TestNameThatNoServiceHas(t *testing.T) {
	rsp := run(t, composetest.Case{Composite: strings.Replace(claim(vllm), "name: d,", "name: 7b-chat,", 1)})
	refused(t, rsp, reason.DeploymentInvalid, "metadata.name")
}

// Names of two maps were one, so a model got the variant of another.
func TestMapsOfTwoNamespacesDiffer(t *testing.T) {
	rsp := run(t, composetest.Case{Composite: claim("engine: {name: localai}, models: [{modelMapRef: {namespace: a-b, name: c, variant: v}}]")})
	for key := range rsp.GetRequirements().GetResources() {
		if key == "map-a-b/c" {
			return
		}
	}
	t.Errorf("the maps are required as %v", rsp.GetRequirements().GetResources())
}

// An HTTPRoute served each path on each host.
func TestHTTPRoutePublishesOnlyTheGivenPairs(t *testing.T) {
	for endpoints, want := range map[string][]string{
		"{domain: a.b, path: /x}, {domain: c.d, path: /y}":                                                   {"a.b/x", "c.d/y"},
		"{domain: a.b}, {domain: c.d, path: /y}":                                                             {"a.b/", "c.d/y"},
		"{domain: a.b, path: /x}, {domain: c.d, path: /x}":                                                   {"a.b/x", "c.d/x"},
		"{domain: a.b, path: /x}, {domain: a.b, path: /y}":                                                   {"a.b/x", "a.b/y"},
		"{domain: a.b, path: /x}, {domain: a.b, path: /y}, {domain: c.d, path: /y}, {domain: c.d, path: /x}": {"a.b/x", "a.b/y", "c.d/x", "c.d/y"},
	} {
		rsp := run(t, composetest.Case{Composite: claim(vllm + ", endpoint: [" + endpoints + "], route: {kind: HTTPRoute, parentRefs: [{name: g}]}")})
		var got []string
		names := map[string]bool{}
		for res := range rsp.GetDesired().GetResources() {
			var route struct {
				Kind     string
				Metadata struct{ Name string }
				Spec     struct {
					Hostnames []string
					Rules     []struct {
						Matches []struct{ Path struct{ Value string } }
					}
				}
			}
			if desired(t, rsp, res, &route); route.Kind != "HTTPRoute" {
				continue
			}
			if names[route.Metadata.Name] {
				t.Errorf("two HTTPRoutes are called %q", route.Metadata.Name)
			}
			names[route.Metadata.Name] = true
			for _, host := range route.Spec.Hostnames {
				for _, rule := range route.Spec.Rules {
					got = append(got, host+rule.Matches[0].Path.Value)
				}
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s publishes %v", endpoints, got)
		}
	}
}

// A number format or quantization for an engine without such flags was ignored silently.
func TestFormatsWithoutEffectAreReported(t *testing.T) {
	maps := map[string][]string{"map-ns/m": {"metadata: {name: m, namespace: ns}\nspec: {ollama: [{variant: a, uri: b, quantization: awq}]}"}}
	for spec, want := range map[string]string{
		"engine: {name: ollama, options: {dtype: half}}, models: [{uri: a, dataType: int8}]":                                   "spec.engine.options.dtype, spec.models[0].dataType",
		"engine: {name: ollama}, models: [{modelMapRef: {name: m, variant: a}}]":                                               "quantization of the variant of spec.models[0]",
		"engine: {name: localai}, models: [{uri: a}, {uri: b, quantization: awq}]":                                             "spec.models[1].quantization",
		"engine: {name: llama.cpp}, models: [{uri: a, quantization: q4}], gateway: {}":                                         "spec.models[0].quantization",
		"engine: {name: distributed-llama, options: {servedName: x}}, models: [{uri: a/b, dataType: int8, quantization: q40}]": "spec.engine.options.servedName, spec.models[0].dataType",
		"engine: {name: vllm, options: {dtype: half}}, models: [{uri: a/b, dataType: int8, quantization: awq}]":                "",
		"engine: {name: absent, options: {dtype: half}}, models: [{uri: a/b, quantization: awq}]":                              "",
		"engine: {name: tgi}, models: [{uri: a/b, dataType: float16}], gateway: {}":                                            "",
	} {
		got := ""
		for _, c := range run(t, composetest.Case{Composite: claim(spec), Required: maps}).GetConditions() {
			if c.GetType() == v1.ConditionLegacyFields {
				_, got, _ = strings.Cut(c.GetMessage(), ": ")
			}
		}
		if got != want {
			t.Errorf("%s reports %q, want %q", spec, got, want)
		}
	}
}

// Behind the gateway GPUs got a runtime class that the claim did not ask for: a cluster
// without it refused the pods after an upgrade.
func TestRuntimeClassBehindTheGateway(t *testing.T) {
	for pods, class := range map[string]struct{ queued, alone string }{
		cuda: {"", "nvidia"}, cuda + ", runtimeClassName: nvidia": {"nvidia", "nvidia"}, cuda + ", runtimeClassName: none": {}, "runtimeClassName: kata": {"kata", "kata"}, "": {},
	} {
		var d v1.Dllama
		desired(t, run(t, composetest.Case{Composite: claim(vllm + ", gateway: {}, deployment: {" + pods + "}")}), "dllama", &d)
		if got := d.Spec.Scheduling.RuntimeClassName; got != class.queued {
			t.Errorf("%q gives runtime class %q, want %q", pods, got, class.queued)
		}
		alone, _ := deployment(t, run(t, composetest.Case{Composite: claim(vllm + ", deployment: {" + pods + "}")}))
		if got := alone.Spec.Template.Spec.RuntimeClassName; (got == nil) != (class.alone == "") || got != nil && *got != class.alone {
			t.Errorf("%q gives pods alone runtime class %v, want %q", pods, got, class.alone)
		}
	}
}

// What LocalAI and Triton download ended with the pod, in spite of a cache.
func TestCacheKeepsDownloads(t *testing.T) {
	for engine, flag := range map[string]string{"localai}, models: [{uri: phi-2": "--models-path=", "triton}, models: [{uri: 'https://h/m.onnx'": "--model-repository="} {
		for cache, want := range map[string]string{"": "$(KOLDUN_DIR_MODELS)", ", cache: {claimName: c}": "$(KOLDUN_DIR_CACHE)/models"} {
			_, c := deployment(t, run(t, composetest.Case{Composite: claim("engine: {name: " + engine + "}]" + cache)}))
			if !slices.ContainsFunc(c.Args, func(arg string) bool { return strings.HasPrefix(arg, flag+want) }) {
				t.Errorf("%s with %q has arguments %q", engine, cache, c.Args)
			}
		}
	}
}

// Variants of deepspeed-mii were kept under another name, and those of tensor_rt not at
// all.
func TestVariantsOfEveryEngine(t *testing.T) {
	lists := map[string][]string{"triton": {"triton", "tensor_rt"}, "llama.cpp": {"llamacpp"}}
	for engine := range engines() {
		if engine == "generic" {
			continue
		}
		if lists[engine] == nil {
			lists[engine] = []string{engine}
		}
		for _, list := range lists[engine] {
			rsp := run(t, composetest.Case{
				Composite: claim("engine: {name: " + engine + "}, models: [{modelMapRef: {name: m, variant: v}}]"),
				Required:  map[string][]string{"map-ns/m": {"metadata: {name: m, namespace: ns}\nspec: {" + list + ": [{variant: other, uri: a}, {variant: v, uri: 'https://h/m.gguf'}]}"}},
			})
			if got := status(t, rsp).ResolvedModels; len(got) != 1 || got[0].URI != "https://h/m.gguf" || got[0].Variant != "v" {
				why, message := serving(rsp)
				t.Errorf("%s: list %s gives %+v: %s: %s", engine, list, got, why, message)
			}
		}
	}
}

// Its engines pulled images always, with a Secret of a fixed name, kept models in memory
// that counted as the pod's, and dropped claims of resources.
func TestNothingIsHardWired(t *testing.T) {
	const pods = "resources: {claims: [{name: gpu}]}"
	for name, spec := range engines() {
		d, c := deployment(t, run(t, composetest.Case{Composite: withPods(name, spec, pods, "")}))
		pod := d.Spec.Template.Spec
		if c.ImagePullPolicy != "" || len(pod.ImagePullSecrets) > 0 {
			t.Errorf("%s: images are pulled %q with %v", name, c.ImagePullPolicy, pod.ImagePullSecrets)
		}
		if len(c.Resources.Claims) != 1 {
			t.Errorf("%s: the resources are %+v", name, c.Resources)
		}
		for _, v := range pod.Volumes {
			if v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory && v.Name != "shm" {
				t.Errorf("%s: volume %s is in memory", name, v.Name)
			}
		}
		given, c := deployment(t, run(t, composetest.Case{Composite: withPods(name, spec, "imagePullPolicy: Never, imagePullSecrets: [{name: s}]", "")}))
		if secrets := given.Spec.Template.Spec.ImagePullSecrets; len(secrets) != 1 || secrets[0].Name != "s" || c.ImagePullPolicy != corev1.PullNever {
			t.Errorf("%s: images are pulled %q with %v", name, c.ImagePullPolicy, secrets)
		}
	}
}

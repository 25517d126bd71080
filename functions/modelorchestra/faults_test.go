package modelorchestra_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/modelorchestra"
)

// The tests of this file are named after the faults of the vendor's operator.

func composed(t *testing.T, spec string) *fnv1.RunFunctionResponse {
	t.Helper()
	return composetest.Run(t, modelorchestra.Compose, composetest.Case{Composite: meta + "spec: " + spec})
}

func object[T any](t *testing.T, rsp *fnv1.RunFunctionResponse, name string) (out T) {
	t.Helper()
	r, ok := rsp.GetDesired().GetResources()[name]
	if !ok {
		t.Fatalf("there is no %q among %q", name, composetest.Names(rsp))
	}
	raw, err := r.GetResource().MarshalJSON()
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func template(t *testing.T, spec, name string) corev1.PodTemplateSpec {
	t.Helper()
	return object[appsv1.Deployment](t, composed(t, spec), "deployment-"+name).Spec.Template
}

// M1: a change of a configuration reached no running pod.
func TestConfigurationRollsThePodsThatReadIt(t *testing.T) {
	const before = "{applications: {a: {readerConfig: {modelName: o/m}}, b: {}}}"
	for name, c := range map[string]struct {
		spec  string
		rolls []string
	}{
		"Reader":       {"{applications: {a: {readerConfig: {modelName: o/n}}, b: {}}}", []string{"a"}},
		"Template":     {"{applicationTemplate: {readerConfig: {maxBatchSize: 2}}, applications: {a: {readerConfig: {modelName: o/m}}, b: {}}}", []string{"a", "b"}},
		"Gateway":      {"{gateway: {config: {maxUserBatchSize: 2}}, applications: {a: {readerConfig: {modelName: o/m}}, b: {}}}", []string{"gateway"}},
		"NoConfig":     {"{applications: {a: {replicaCount: 3, readerConfig: {modelName: o/m}}, b: {}}}", nil},
		"OneMore":      {"{applications: {a: {readerConfig: {modelName: o/m}}, b: {}, c: {}}}", nil},
		"ReaderExtras": {"{applications: {a: {readerConfig: {modelName: o/m}}, b: {readerConfig: {extra: {x: '1'}}}}}", []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			var rolls []string
			for _, pod := range []string{"a", "b", "gateway"} {
				if !cmp.Equal(template(t, before, pod), template(t, c.spec, pod)) {
					rolls = append(rolls, pod)
				}
			}
			if d := cmp.Diff(c.rolls, rolls); d != "" {
				t.Error(d)
			}
		})
	}
}

// M2: Ingresses had invalid ports, and hosts without paths had none.
func TestIngressesAreValid(t *testing.T) {
	rsp := composed(t, "{gateway: {ingress: {enabled: true, hosts: [{host: a}]}}, applications: {x: {service: {ports: [{name: web, port: 80, targetPort: openai}]}, ingress: {enabled: true, hosts: [{host: b}]}}}}")
	for name, port := range map[string]string{"gateway": "http", "x": "web"} {
		i := object[networkingv1.Ingress](t, rsp, "ingress-"+name)
		paths := i.Spec.Rules[0].HTTP.Paths
		if len(paths) != 1 || paths[0].Path != "/" || *paths[0].PathType != "Prefix" || paths[0].Backend.Service.Port.Name != port {
			t.Errorf("%s has paths %+v", name, paths)
		}
		s := object[corev1.Service](t, rsp, "service-"+name)
		if s.Name != paths[0].Backend.Service.Name || s.Spec.Ports[0].Name != port {
			t.Errorf("the Ingress leads to %+v, and the Service is %+v", paths[0].Backend, s)
		}
	}
}

// M3: the token of the hub was in a ConfigMap.
func TestTokensAreInNoConfigMap(t *testing.T) {
	rsp := composed(t, "{applications: {a: {readerConfig: {accessTokenSecretRef: {name: hub-secret, key: token}}}}}")
	if file := object[corev1.ConfigMap](t, rsp, "config-a").Data["config.yaml"]; strings.Contains(file, "token") || strings.Contains(file, "hub-secret") {
		t.Errorf("the file is:\n%s", file)
	}
	found := map[string]string{}
	for _, v := range object[appsv1.Deployment](t, rsp, "deployment-a").Spec.Template.Spec.Containers[0].Env {
		if v.ValueFrom != nil && v.ValueFrom.SecretKeyRef != nil && v.Value == "" {
			found[v.Name] = v.ValueFrom.SecretKeyRef.Name + "/" + v.ValueFrom.SecretKeyRef.Key
		}
	}
	if d := cmp.Diff(map[string]string{"TAKEOFF_ACCESS_TOKEN": "hub-secret/token", "HF_TOKEN": "hub-secret/token"}, found); d != "" {
		t.Error(d)
	}
}

// M4: lists and large numbers were printed as no YAML reader reads them.
func TestConfigurationKeepsItsValues(t *testing.T) {
	rsp := composed(t, `{gateway: {config: {bodySizeLimitBytes: 1048576, reservedConsumers: "a: [b", extra: {list: "[x, z]", large: "12345678901234567", text: '"1"'}}}}`)
	file := object[corev1.ConfigMap](t, rsp, "config-gateway").Data["config.yaml"]
	for _, line := range []string{"body_size_limit_bytes: 1048576\n", "large: 12345678901234567\n", "readers_config: {}\n", "internal_port: 3005\n"} {
		if !strings.Contains(file, line) {
			t.Errorf("there is no line %q in:\n%s", line, file)
		}
	}
	var got struct {
		Takeoff struct {
			ServerConfig map[string]any `json:"server_config"`
		} `json:"takeoff"`
	}
	if err := yaml.Unmarshal([]byte(file), &got); err != nil {
		t.Fatal(err)
	}
	c := got.Takeoff.ServerConfig
	if c["text"] != "1" || c["reserved_consumers"] != "a: [b" || !cmp.Equal(c["list"], []any{"x", "z"}) {
		t.Errorf("the values are %v", c)
	}
}

// M5: users could not override variables of the gateway, and empty values were dropped.
func TestVariablesOfUsersWin(t *testing.T) {
	for _, pod := range []string{"gateway", "a"} {
		spec := "{gateway: {env: [{name: TAKEOFF_ADD_READER_ID_SUFFIX, value: 'false'}, {name: EMPTY, value: ''}]}, applications: {a: {env: [{name: TAKEOFF_ADD_READER_ID_SUFFIX, value: 'false'}, {name: EMPTY, value: ''}]}}}"
		count := map[string]int{}
		for _, v := range template(t, spec, pod).Spec.Containers[0].Env {
			count[v.Name+"="+v.Value]++
		}
		if count["TAKEOFF_ADD_READER_ID_SUFFIX=false"] != 1 || count["EMPTY="] != 1 || count["TAKEOFF_ADD_READER_ID_SUFFIX=true"] != 0 {
			t.Errorf("%s has %v", pod, count)
		}
	}
}

// M6 and M8: a volume without a name was mounted without one, and models were in memory.
func TestModelsVolumeHasANameAndIsNoMemory(t *testing.T) {
	for given, name := range map[string]string{"": "models", "modelsVolume: {hostPath: {path: /m}}": "models", "modelsVolume: {name: shelf, persistentVolumeClaim: {claimName: c}}": "shelf", "modelsVolume: {claim: {size: 1Gi}}": "models"} {
		spec := template(t, "{applications: {a: {"+given+"}}}", "a").Spec
		var mount, path string
		for _, m := range spec.Containers[0].VolumeMounts {
			if m.MountPath == "/code/models" {
				mount, path = m.Name, m.MountPath
			}
		}
		found := false
		for _, v := range spec.Volumes {
			found = found || v.Name == name && (v.EmptyDir == nil || v.EmptyDir.Medium == corev1.StorageMediumDefault)
		}
		if mount != name || path == "" || !found {
			t.Errorf("with %q the volumes are %+v, mounted %q", given, spec.Volumes, mount)
		}
	}
	if claim := object[corev1.PersistentVolumeClaim](t, composed(t, "{applications: {a: {modelsVolume: {claim: {size: 1Gi}}}}}"), "models-a"); claim.Spec.Resources.Requests.Storage().String() != "1Gi" {
		t.Errorf("the claim is %+v", claim)
	}
}

// M7: pods had no probes and no resources, so that a reader was ready while it loaded.
func TestPodsHaveProbesAndResources(t *testing.T) {
	for _, pod := range []string{"gateway", "a"} {
		c := template(t, "{applications: {a: {readerConfig: {device: cuda, tensorParallel: 2}, livenessProbe: {}, env: [{name: TAKEOFF_HEADLESS, value: 'false'}]}}}", pod).Spec.Containers[0]
		if c.StartupProbe == nil || c.ReadinessProbe == nil || c.LivenessProbe == nil || c.ReadinessProbe.HTTPGet.Path != "/healthz" {
			t.Errorf("the probes of %s are %v, %v and %v", pod, c.StartupProbe, c.ReadinessProbe, c.LivenessProbe)
		}
		if len(c.Resources.Requests)+len(c.Resources.Limits) == 0 {
			t.Errorf("%s has no resources", pod)
		}
		if n := c.Resources.Limits["nvidia.com/gpu"]; pod == "a" && n.Value() != 2 {
			t.Errorf("the reader has %s GPUs", n.String())
		}
	}
	if c := template(t, "{applications: {a: {env: [{name: TAKEOFF_HEADLESS, value: 'true'}]}}}", "a").Spec.Containers[0]; c.ReadinessProbe != nil {
		t.Error("a headless reader is asked over HTTP")
	}
}

// A change of labels must neither detach running pods from their Service, nor may a version
// among the labels restart them; monitors of one stack must not match another's.
func TestSelectorsAreStableAndOfOneStack(t *testing.T) {
	rsp := composed(t, "{gateway: {exportPrometheusMetrics: true, podLabels: {app.kubernetes.io/instance: mine, team: a}}, applications: {a: {podLabels: {team: a}}}}")
	d := object[appsv1.Deployment](t, rsp, "deployment-gateway")
	s := object[corev1.Service](t, rsp, "service-gateway")
	monitor := object[struct {
		Spec struct {
			Selector struct {
				MatchLabels map[string]string `json:"matchLabels"`
			} `json:"selector"`
		} `json:"spec"`
	}](t, rsp, "servicemonitor").Spec.Selector.MatchLabels
	plain := object[appsv1.Deployment](t, composed(t, "{}"), "deployment-gateway").Spec.Selector.MatchLabels
	for what, got := range map[string]map[string]string{"Deployment": d.Spec.Selector.MatchLabels, "Service": s.Spec.Selector, "ServiceMonitor": monitor} {
		if diff := cmp.Diff(plain, got); diff != "" {
			t.Errorf("the selector of the %s depends on labels of users:\n%s", what, diff)
		}
	}
	if plain["koldun.gorizond.io/modelorchestra"] != "stack" || d.Spec.Template.Labels["app.kubernetes.io/instance"] != "stack" || d.Spec.Template.Labels["team"] != "a" {
		t.Errorf("the labels are %v, selected by %v", d.Spec.Template.Labels, plain)
	}
	for key, value := range d.Spec.Template.Labels {
		if regexp.MustCompile(`version|chart|[0-9]+\.[0-9]+`).MatchString(key + value) {
			t.Errorf("the pods have the label %s=%s", key, value)
		}
	}
}

// Composed resources of different applications never share a name.
func TestNamesOfApplicationsDoNotCollide(t *testing.T) {
	full := "{service: {}, scaling: {enabled: true}, modelsVolume: {claim: {size: 1Gi}}, ingress: {enabled: true, hosts: [{host: h}]}}"
	one := len(composed(t, "{applications: {a: "+full+"}}").GetDesired().GetResources())
	base := len(composed(t, "{}").GetDesired().GetResources())
	names := []string{"a", "a-config", "config-a", "a-models", "models", "deployment-a", "service"}
	rsp := composed(t, "{applications: {"+strings.Join(names, ": "+full+", ")+": "+full+"}}")
	if got, want := len(rsp.GetDesired().GetResources()), base+len(names)*(one-base); got != want {
		t.Errorf("%d applications compose %d objects, want %d", len(names), got, want)
	}
	objects := map[string]bool{}
	for res, r := range rsp.GetDesired().GetResources() {
		f := r.GetResource().GetFields()
		id := f["kind"].GetStringValue() + " " + f["metadata"].GetStructValue().GetFields()["name"].GetStringValue()
		if objects[id] {
			t.Errorf("%s is another %s", res, id)
		}
		objects[id] = true
	}
}

// The seed's spec had no schema at all.
func TestSpecsWithoutSenseAreRefused(t *testing.T) {
	schemas, err := validation.Load()
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ spec, says string }{
		"Gateway":        {"{applications: {gateway: {}}}", "the name gateway"},
		"Name":           {"{applications: {Chat_1: {}}}", "DNS labels"},
		"AccessToken":    {"{applications: {a: {readerConfig: {accessToken: hf_x}}}}", "accessTokenSecretRef"},
		"ExtraToken":     {"{applications: {a: {readerConfig: {extra: {access_token: hf_x}}}}}", "from a Secret"},
		"Unknown":        {"{applications: {a: {readerConfig: {modelNam: x}}}}", "modelNam"},
		"Device":         {"{applications: {a: {readerConfig: {device: gpu}}}}", "Unsupported value"},
		"TensorParallel": {"{applications: {a: {readerConfig: {device: cuda, tensorParallel: 3}}}}", "1 or even"},
		"TensorOnCPU":    {"{applicationTemplate: {readerConfig: {device: cpu, tensorParallel: 2}}}", "other than cpu"},
		"PageCache":      {"{applications: {a: {readerConfig: {pageCacheSize: much}}}}", "pageCacheSize"},
		"ModelsVolume":   {"{applications: {a: {modelsVolume: {name: x}}}}", "exactly one"},
		"TwoSources":     {"{applications: {a: {modelsVolume: {emptyDir: {}, hostPath: {path: /m}}}}}", "exactly one"},
		"NoHost":         {"{gateway: {ingress: {enabled: true}}}", "at least one host"},
		"Replicas":       {"{applications: {a: {scaling: {spec: {minReplicaCount: 3, maxReplicaCount: 2}}}}}", "maxReplicaCount"},
		"APIKey":         {"{applications: {a: {readerConfig: {extra: {api_key: x}}}}}", "from a Secret"},
		"LicenseKey":     {"{gateway: {config: {extra: {license_key: x}}}}", "from a Secret"},
		"Credentials":    {"{applications: {a: {readerConfig: {extra: {aws_credentials: x}}}}}", "from a Secret"},
		"NoSecret":       {"{applications: {a: {readerConfig: {extra: {max_tokens: '1', tokenizer_path: x, bypass_queue: 'true'}}}}}", ""},
		"Idle":           {"{applications: {a: {scaling: {spec: {idleReplicaCount: 2, minReplicaCount: 3}}}}}", "idleReplicaCount"},
		"ModelRef":       {"{applications: {a: {modelRef: {name: m}}}}", "for backend Koldun"},
		"Engine":         {"{applicationTemplate: {engine: {type: openai, server: {profile: vllm}}}}", "for backend Koldun"},
		"Nodes":          {"{backend: Takeoff, applications: {a: {}, b: {nodes: 2}}}", "for backend Koldun"},
		"NodesOfKoldun":  {"{backend: Koldun, applicationTemplate: {nodes: 2}, applications: {b: {modelRef: {name: m}}}}", ""},
		"Anonymous":      {"{allowAnonymous: true}", "for backend Koldun"},
		"Seed":           {"{applications: {hello-world: {nodeSelector: {nvidia.com/gpu.product: NVIDIA-GeForce-RTX-3060}, readerConfig: {modelName: unsloth/Llama-3.2-1B-Instruct, device: cuda}}}, imagePullSecrets: [{name: regcred}]}", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := schemas.Check(t.Context(), composetest.Object(t, meta+"spec: "+c.spec).GetResource().AsMap())
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// M9: the operator had no rights for Ingresses and ScaledObjects.
func TestCrossplaneMayComposeEachKind(t *testing.T) {
	var role struct {
		Rules []struct {
			APIGroups, Resources, Verbs []string
		} `json:"rules"`
	}
	raw, err := os.ReadFile("../../package/rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(raw), "\n---")
	if err := yaml.Unmarshal([]byte(first), &role); err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{"koldun.m.gorizond.io/workloadstatuses": true, "/configmaps": true, "/services": true, "/serviceaccounts": true, "apps/deployments": true} // by the Provider, and by Crossplane's chart
	for _, r := range role.Rules {
		for _, group := range r.APIGroups {
			for _, res := range r.Resources {
				allowed[group+"/"+res] = slices.Contains(r.Verbs, "create") && slices.Contains(r.Verbs, "delete")
			}
		}
	}
	const all = "{scaling: {enabled: true}, service: {}, ingress: {enabled: true, hosts: [{host: h}], gateways: [{name: g}]}, modelsVolume: {claim: {size: 1Gi}}}"
	rsp := composed(t, "{gateway: {exportPrometheusMetrics: true, ingress: {enabled: true, hosts: [{host: h}]}}, applications: {a: "+all+", b: {scaling: {enabled: true, type: HorizontalPodAutoscaler}}}}")
	kinds := map[string]bool{}
	for _, r := range rsp.GetDesired().GetResources() {
		f := r.GetResource().GetFields()
		group, _, grouped := strings.Cut(f["apiVersion"].GetStringValue(), "/")
		if !grouped {
			group = ""
		}
		kind := strings.ToLower(f["kind"].GetStringValue())
		plural := kind + "s"
		if strings.HasSuffix(kind, "s") {
			plural = kind + "es"
		}
		kinds[kind] = true
		if !allowed[group+"/"+plural] {
			t.Errorf("package/rbac.yaml does not allow to compose %s/%s", group, plural)
		}
	}
	if len(kinds) != 11 {
		t.Errorf("it composes %d kinds: %v", len(kinds), kinds)
	}
}

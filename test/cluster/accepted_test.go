package cluster_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/engine/openai"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// models are models that the engines of AIDeployments take, alone and behind the gateway.
var models = map[string]string{ //nolint:gochecknoglobals // a table
	"vllm":              "models: [{uri: org/repo, revision: v1, dataType: bfloat16, quantization: awq}]",
	"sglang":            "models: [{uri: org/repo, revision: v1}]",
	"llama.cpp":         "models: [{uri: 'org/repo:Q4_K_M'}]",
	"ollama":            "models: [{uri: 'qwen3:0.6b'}]",
	"localai":           "models: [{uri: phi-2}]",
	"tgi":               "models: [{uri: org/repo, quantization: awq}]",
	"triton":            "models: [{uri: 'https://h/resnet.onnx'}]",
	"tensorrt-llm":      "models: [{uri: org/repo}]",
	"deepspeed-mii":     "models: [{uri: org/repo}]",
	"generic":           "models: []",
	"distributed-llama": "models: [{uri: org/repo, revision: main, quantization: q40}]",
}

// Fields of AIDeployments: of all, of those alone, and of those behind the gateway.
const (
	everywhere = `endpoint: [{domain: a.example, path: /v1, port: 9000}, {domain: b.example, port: 9000}], service: {type: LoadBalancer, annotations: {a: b}},
  ingress: {tls: true, className: nginx, labels: {a: b}, annotations: {a: b}}`
	pods = `nodeSelector: {a: b}, tolerations: [{operator: Exists}], imagePullSecrets: [{name: s}], imagePullPolicy: Always, priorityClassName: high,
  serviceAccountName: sa, accelerator: {interface: CUDA, minVersion: {major: 8, minor: 6}}, resources: {requests: {cpu: 1}, limits: {memory: 8Gi}},
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}`
	environment = `env: [{name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hub, key: token}}}, {name: HOME, value: /x}], cache: {claimName: cache}`
	alone       = environment + `, args: [--more], autoscaling: {minReplicas: 1, maxReplicas: 4}, deployment: {` + pods + `, labels: {a: b}, annotations: {a: b},
  strategy: {type: Recreate}, startupProbe: {failureThreshold: 3}, readinessProbe: {successThreshold: 2}, livenessProbe: {terminationGracePeriodSeconds: 9},
  template: {metadata: {labels: {c: d}}, spec: {hostNetwork: false, initContainers: [{name: before, image: i}], containers: [{name: serving, image: mine, volumeMounts: [{name: data, mountPath: /data}]},
    {name: beside, image: i}], volumes: [{name: data, emptyDir: {}}], topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}}}`
	route = `, route: {kind: HTTPRoute, parentRefs: [{name: public, namespace: gateways}]}`
)

// variants are AIDeployments of each engine, by their names.
func variants(t *testing.T) map[string]string {
	t.Helper()
	claim := func(name, spec string) string {
		return "{apiVersion: koldun.gorizond.io/v1, kind: AIDeployment, metadata: {name: " + name + ", namespace: ai}, spec: {" + spec + "}}"
	}
	out := map[string]string{}
	for _, engine := range append(openai.Profiles(), "distributed-llama") {
		if models[engine] == "" {
			t.Fatalf("engine %s has no model", engine)
		}
		plain := "engine: {name: " + engine + "}, " + models[engine]
		if engine == "deepspeed-mii" { // no version is known
			plain = "engine: {name: " + engine + ", options: {imageTag: v1}}, " + models[engine]
		}
		behind := plain + ", gateway: {allowAnonymous: true}"
		switch engine {
		case "generic":
			out[engine] = claim("e", plain+", endpoint: [{domain: a.example, port: 9000}], deployment: {template: {spec: {containers: [{name: x, image: i}]}}}")
			out[engine+"-all"] = claim("e", plain+", "+everywhere+", "+alone)
			continue
		case "distributed-llama":
			out[engine] = claim("e", behind)
			out[engine+"-all"] = claim("e", "engine: {name: distributed-llama, nodes: 4, maxSeqLen: 4096}, "+models[engine]+", gateway: {}, args: [--x], "+everywhere+", deployment: {"+pods+"}")
			continue
		case "deepspeed-mii", "triton": // the first has no image of its own there, the second no URL
			behind = "engine: {name: " + engine + ", options: {imageRepository: i, imageTag: t}}, models: [{uri: org/repo}], modelSource: {pvc: {claimName: c}}, gateway: {slots: 2}"
		}
		out[engine] = claim("e", plain)
		out[engine+"-all"] = claim("e", plain+", "+everywhere+", "+alone)
		out[engine+"-route"] = claim("e", plain+", "+everywhere+route)
		out[engine+"-gateway"] = claim("e", behind)
		out[engine+"-gateway-all"] = claim("e", behind+", "+environment+", "+strings.Replace(everywhere, "labels: {a: b}, ", "", 1)+", deployment: {"+pods+", runtimeClassName: gpu}")
	}
	return out
}

// TestComposedObjectsAreAccepted composes AIDeployments of each engine, the examples of
// claims, and the manifests of other systems as koldun migrate converts them. A real API
// server accepts the claims, and all that is composed until they are ready. Minimal CRDs
// stand for KEDA, the Prometheus operator and the Gateway API.
func TestComposedObjectsAreAccepted(t *testing.T) {
	c := shared.Cluster(t)
	koldun, err := platform.Build(t.Context(), "../..", "cmd/koldun")
	if err != nil {
		t.Fatal(err)
	}
	installed(t, c)
	run := func(t *testing.T, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), koldun, args...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("koldun %s: %v\n%s", strings.Join(args, " "), err, errs.String())
		}
		return string(out)
	}
	engines := variants(t)
	claims := maps.Clone(engines)
	for _, pattern := range []string{"../../examples/claims/*.yaml", "../../cmd/koldun/migrate/testdata/examples/*.yaml", "../../cmd/koldun/migrate/testdata/fields/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no files match %s: %v", pattern, err)
		}
		for _, f := range files {
			folder := filepath.Base(filepath.Dir(f))
			if name := folder + "-" + strings.TrimSuffix(filepath.Base(f), ".yaml"); folder == "claims" {
				claims[name] = file(t, f)
			} else {
				claims[name] = run(t, "migrate", "-f", f)
			}
		}
	}
	for name, manifest := range claims {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input := filepath.Join(t.TempDir(), "claims.yaml")
			if err := os.WriteFile(input, []byte(manifest), 0o600); err != nil {
				t.Fatal(err)
			}
			objects, err := cluster.Decode(run(t, "render", "-f", "../../package/single-team.yaml", "-f", input))
			if err != nil {
				t.Fatal(err)
			}
			var documents []string
			for _, o := range objects {
				if ns := o.GetNamespace(); ns != "" {
					namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
					if err := c.Client().Create(t.Context(), namespace); client.IgnoreAlreadyExists(err) != nil {
						t.Fatal(err)
					}
				}
				raw, err := o.MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				documents = append(documents, string(raw))
			}
			if err := c.Accept(t.Context(), "default", documents...); err != nil {
				t.Error(err)
			}
			workload := `"kind":"Deployment"`
			if strings.Contains(manifest, "gateway: {") {
				workload = `"kind":"StatefulSet"`
			}
			if engines[name] != "" && !strings.Contains(strings.Join(documents, ""), workload) {
				t.Errorf("it composes no object with %s", workload)
			}
		})
	}
}

// installed installs all our kinds, and stands in for those of other projects that our
// functions compose.
func installed(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	definitions, err := filepath.Glob("../../package/configuration/*/definition.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var plurals []string
	for _, file := range definitions {
		plurals = append(plurals, filepath.Base(filepath.Dir(file)))
	}
	packaged(t, c, plurals...)
	if err := c.Apply(t.Context(), anyKind("keda.sh", "v1alpha1", "ScaledObject"), anyKind("monitoring.coreos.com", "v1", "ServiceMonitor"),
		anyKind("monitoring.coreos.com", "v1", "PodMonitor"), anyKind("gateway.networking.k8s.io", "v1", "HTTPRoute")); err != nil {
		t.Fatal(err)
	}
}

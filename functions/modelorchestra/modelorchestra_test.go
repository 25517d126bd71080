package modelorchestra_test

import (
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/modelorchestra"
	"github.com/gorizond/koldun/functions/reason"
)

const meta = "apiVersion: koldun.gorizond.io/v1\nkind: ModelOrchestra\nmetadata: {name: stack, namespace: ns, generation: 3}\n"

const (
	onePod  = "status: {readyReplicas: 1}"
	serving = composetest.Serving
)

// koldun has one application.
const koldun = meta + "spec: {backend: Koldun, applications: {a: {readerConfig: {modelName: o/m}}}}"

const partServes = "status: {atProvider: {serving: true}}"

// failsAs is a Part whose composite does not serve.
func failsAs(why, message string) string {
	return "status: {atProvider: {reason: " + why + ", message: " + message + "}}"
}

func TestModelOrchestra(t *testing.T) {
	composetest.Table(t, modelorchestra.Compose, map[string]composetest.Case{
		"Empty": {Composite: meta + "spec: {}", Reason: reason.GatewayStarting, Says: "stack-model-orchestra-gateway"},
		"Starting": {
			Composite: meta + "spec: {applications: {chat: {}}}",
			Observed:  map[string]string{"deployment-gateway": onePod}, Reason: reason.ApplicationsStarting, Says: `"chat"`,
		},
		"Available": {
			Composite: meta + "spec: {applications: {chat: {}, other: {replicaCount: 0}}}",
			Observed:  map[string]string{"deployment-gateway": onePod, "deployment-chat": onePod}, Reason: reason.Available, Says: "2 applications",
		},
		"Settings": {
			Composite: meta + `spec:
  fullnameOverride: models
  nameOverride: takeoff
  serviceAccount: {create: false, name: theirs, automount: true}
  gateway:
    config: {internalPort: 4000, allowRemoteImages: false, extra: {new_list: "[1, 2]"}}
    replicaCount: 2
    image: {repository: example.org/takeoff, tag: "1", pullPolicy: Always}
    env: [{name: TAKEOFF_ADD_READER_ID_SUFFIX, value: ""}]
    service: {type: LoadBalancer, annotations: {a: b}, ports: [{name: http, port: 8080, targetPort: openai}]}
    ingress: {enabled: true, annotations: {a: b}, hosts: [{host: a.example, paths: [{path: /v1, pathType: Exact}]}, {host: b.example}], tls: [{secretName: cert, hosts: [a.example]}]}
  applicationTemplate:
    env: [{name: A, value: template}, {name: B, value: template}]
    livenessProbe: {httpGet: {path: /healthz, port: 3000}}
  applications:
    chat:
      env: [{name: B, value: application}]
      livenessProbe: {exec: {command: ["true"]}}
      service: {}
      ingress: {enabled: true, hosts: [{host: c.example}], gateways: [{name: public, namespace: infra, sectionName: web}]}
      modelsVolume: {hostPath: {path: /models}}
      volumes: [{name: extra, secret: {secretName: s}}]
      volumeMounts: [{name: extra, mountPath: /extra}]
      scaling: {enabled: true, type: HorizontalPodAutoscaler, cpuUtilization: 50, spec: {advanced: {horizontalPodAutoscalerConfig: {behavior: {scaleDown: {stabilizationWindowSeconds: 300}}}}}}
    queue:
      readerConfig: {consumerGroup: queue}
      scaling:
        enabled: true
        annotations: {autoscaling.keda.sh/paused: "true"}
        spec: {minReplicaCount: 2, idleReplicaCount: 0, fallback: {failureThreshold: 3, replicas: 6}, advanced: {restoreToOriginalReplicaCount: true}}
`, Reason: reason.GatewayStarting,
		},
		// An earlier version composed all directly.
		"Koldun": {
			Composite: meta + `spec:
  backend: Koldun
  allowAnonymous: true
  nats: {url: "nats://h:4222"}
  gateway: {replicaCount: 2, service: {type: NodePort, ports: [{name: http, port: 81}]}, ingress: {enabled: true, className: nginx, hosts: [{host: a.example}]}}
  applications:
    chat: {replicaCount: 2, readerConfig: {modelName: org/model, consumerGroup: team, maxSequenceLength: 2048, accessTokenSecretRef: {name: s, key: token}}}
    named: {modelRef: {name: mine}, nodes: 4, scaling: {enabled: true, spec: {minReplicaCount: 0, cooldownPeriod: 60}}}
    gpu: {readerConfig: {modelName: org/big, device: cuda, tensorParallel: 2}}
    remote: {replicaCount: 2, readerConfig: {device: api}, engine: {type: openai, server: {url: "https://api.example.com/v1", model: m}}}
`,
			Observed: map[string]string{
				"ingress": "status: {url: 'http://u/v1', backendServiceName: s, conditions: [{type: Serving, status: 'True'}]}", "session-chat": serving, "session-named": serving,
				"session-gpu": serving, "dllama-1-remote": serving, "model-chat": serving,
			}, Reason: reason.Available, Says: "4 applications are served at http://u/v1",
		},
		"KoldunParts": {
			Composite: meta + `spec:
  backend: Koldun
  applications:
    chat: {readerConfig: {modelName: org/model}}
    remote: {readerConfig: {device: api}, engine: {type: openai, server: {url: "https://api.example.com/v1", model: m}}}
`,
			Observed: map[string]string{
				"part-ingress": "status: {atProvider: {serving: true, outputs: {url: 'http://u/v1', backendServiceName: s}}}", "part-model-chat": partServes,
				"part-session-chat": partServes, "part-dllama-0-remote": partServes,
			}, Reason: reason.Available, Says: "2 applications are served at http://u/v1",
		},
		"KoldunModelFails": {
			Composite: koldun, Observed: map[string]string{"part-ingress": partServes, "part-model-a": failsAs("RevisionUnavailable", "no such repository")},
			Reason: reason.RevisionUnavailable, Says: `Model "stack-model-orchestra-a" is not ready: no such repository`,
		},
		"KoldunPodFails": {
			Composite: koldun, Observed: map[string]string{"part-ingress": partServes, "part-model-a": partServes, "part-session-a": failsAs("Unschedulable", "no node")},
			Reason: reason.Unschedulable, Says: `Session "stack-model-orchestra-a" is not ready: no node`,
		},
		"KoldunTaken": {
			Composite: koldun, Observed: map[string]string{
				"part-ingress": partServes, "part-model-a": partServes,
				"part-session-a": "status: {conditions: [{type: Synced, status: 'False', message: it has another owner}]}",
			},
			Reason: reason.ApplicationsStarting, Says: `Session "stack-model-orchestra-a" is not ready: it has another owner`,
		},
		"KoldunDirectFails": {
			Composite: koldun, Observed: map[string]string{"ingress": "status: {conditions: [{type: Serving, status: 'False', reason: ImageUnavailable, message: no such image}]}"},
			Reason: reason.ImageUnavailable, Says: `Ingress "stack-model-orchestra" is not ready: no such image`,
		},
		"KoldunWithoutRoute": {
			Composite: koldun, Observed: map[string]string{
				"part-ingress":   "status: {atProvider: {serving: true, reason: PrerequisiteMissing, message: no Gateway API, outputs: {url: 'http://u/v1'}}}",
				"part-model-a":   partServes,
				"part-session-a": partServes,
			},
			Reason: reason.Available, Says: "http://u/v1",
		},
		"KoldunDirectWithoutRoute": {
			Composite: koldun, Observed: map[string]string{
				"ingress":        "status: {conditions: [{type: Serving, status: 'True'}, {type: Prerequisites, status: 'False', message: no Gateway API}]}",
				"part-session-a": partServes,
			},
			Reason: reason.Available,
		},
		"KoldunStarting": {Composite: koldun, Reason: reason.GatewayStarting},
		"KoldunIgnores": {
			Composite: meta + "spec: {backend: Koldun, gateway: {env: [{name: A, value: b}]}, applications: {a: {podLabels: {a: b}, modelsVolume: {emptyDir: {}}, readerConfig: {modelName: o/m}}}}",
			Reason:    reason.GatewayStarting,
		},
	})
}

// TestInvalidApplicationsAreNamed has what no schema can refuse, because it depends on the
// template.
func TestInvalidApplicationsAreNamed(t *testing.T) {
	cases := map[string]struct{ spec, says string }{
		"NoSuchMount": {"{applications: {a: {volumeMounts: [{name: v, mountPath: /v}]}}}", `spec.applications.a.volumeMounts: there is no volume "v"`},
		"TakenVolume": {"{applications: {a: {volumes: [{name: models, emptyDir: {}}]}}}", `spec.applications.a.volumes: the name "models"`},
		"NoSuchPort":  {"{gateway: {service: {ports: [{name: http, port: 80, targetPort: x}]}}}", `spec.gateway.service.ports: the pods have no port "x"`},
		"ModelsName":  {"{applications: {a: {modelsVolume: {name: dshm, emptyDir: {}}}}}", `spec.applications.a.modelsVolume.name: the name "dshm"`},
		"ConfigName":  {"{applications: {a: {modelsVolume: {name: config, emptyDir: {}}}}}", `spec.applications.a.modelsVolume.name: the name "config"`},
		"MountTwice":  {"{applications: {a: {volumes: [{name: v, emptyDir: {}}], volumeMounts: [{name: v, mountPath: /v}, {name: v, mountPath: /v/}]}}}", `several volumes are mounted at "/v"`},
		"PortTwice":   {"{applications: {a: {ports: [{name: x, containerPort: 1}, {name: x, containerPort: 2}]}}}", "spec.applications.a.ports: another port"},
		"NumberTwice": {"{gateway: {service: {ports: [{name: web, port: 1}, {name: api, port: 1}]}}}", "spec.gateway.service.ports: another port"},
		"Internal":    {"{gateway: {service: {ports: [{name: http, port: 80}, {name: internal, port: 4000}]}}}", "config.internalPort"},
		"LeadsAway":   {"{gateway: {service: {ports: [{name: http, port: 3005, targetPort: openai}]}}}", "config.internalPort"},
		"PodInternal": {"{gateway: {ports: [{name: internal, containerPort: 4000}]}}", "spec.gateway.ports"},
		"Limits":      {"{applicationTemplate: {scaling: {enabled: true, spec: {minReplicaCount: 3}}}, applications: {a: {scaling: {spec: {maxReplicaCount: 2}}}}}", "spec.applications.a.scaling.spec.maxReplicaCount: 2"},
		"Idle":        {"{applicationTemplate: {scaling: {enabled: true, spec: {idleReplicaCount: 0}}}, applications: {a: {scaling: {spec: {minReplicaCount: 0}}}}}", "spec.applications.a.scaling.spec.idleReplicaCount"},
		"NoHandler":   {"{applications: {a: {readinessProbe: {periodSeconds: 5}}}}", "spec.applications.a.readinessProbe"},
		"NoYAML":      {"{applications: {a: {readerConfig: {extra: {x: '[1'}}}}}", "spec.applications.a.extra.x"},
		"NoModel":     {"{backend: Koldun, applications: {a: {}}}", "spec.applications.a.readerConfig.modelName"},
		"Group":       {"{backend: Koldun, applications: {a: {readerConfig: {modelName: o/m, consumerGroup: A_b}}}}", "spec.applications.a.readerConfig.consumerGroup"},
		"API":         {"{backend: Koldun, applications: {a: {readerConfig: {device: api, modelName: o/m}}}}", "engine.server.url"},
		"TokenKey":    {"{backend: Koldun, applications: {a: {readerConfig: {modelName: o/m, accessTokenSecretRef: {name: s, key: k}}}}}", "accessTokenSecretRef.key"},
		"Scaling":     {"{backend: Koldun, applications: {a: {scaling: {enabled: true}, engine: {type: openai, server: {source: download, model: m}}}}}", "spec.applications.a.scaling"},
		"GatewayEnv":  {"{backend: Koldun, gateway: {env: [{name: POD_X, value: a}]}}", "spec.gateway.env: POD_X: names"},
		"Env":         {"{backend: Koldun, applicationTemplate: {env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}, applications: {a: {readerConfig: {modelName: o/m}}}}", "spec.applications.a.env: A: behind the gateway"},
		"Hosts":       {"{backend: Koldun, gateway: {ingress: {enabled: true, hosts: [{host: a}, {host: b}]}}}", "one host"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rsp := composetest.Run(t, modelorchestra.Compose, composetest.Case{Composite: meta + "spec: " + c.spec})
			cond := rsp.GetConditions()[0]
			if cond.GetReason() != string(reason.ApplicationInvalid) || !strings.Contains(cond.GetMessage(), c.says) || len(rsp.GetDesired().GetResources()) > 0 {
				t.Errorf("got %v, want %q", cond, c.says)
			}
			// What runs must go on: Crossplane deletes what is not desired, unless there is an error.
			req := &fnv1.RunFunctionRequest{Observed: &fnv1.State{
				Composite: composetest.Object(t, meta+"spec: "+c.spec), Resources: map[string]*fnv1.Resource{"deployment-a": composetest.Object(t, "{}")},
			}}
			err := modelorchestra.Compose(compose.New(compose.Config{Trusted: true}, req, &fnv1.RunFunctionResponse{}))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("while it runs, the error is %v", err)
			}
		})
	}
}

func TestModelOrchestraWithoutNamespaceIsRefused(t *testing.T) {
	composetest.Refuses(t, modelorchestra.Compose, "apiVersion: koldun.gorizond.io/v1\nkind: ModelOrchestra\nmetadata: {name: w}\nspec: {}")
}

// TestOptionalKindsAreNotNeededToServe has a cluster without the Gateway API, KEDA and the
// Prometheus Operator.
func TestOptionalKindsAreNotNeededToServe(t *testing.T) {
	const spec = `spec:
  gateway: {exportPrometheusMetrics: true, ingress: {enabled: true, hosts: [{host: a.example}], gateways: [{name: public}]}}
  applications: {chat: {scaling: {enabled: true}}}
`
	const absent = "{apiVersion: apiextensions.crossplane.io/v1beta1, kind: EnvironmentConfig, data: {absent: [HTTPRoute.gateway.networking.k8s.io, ScaledObject.keda.sh, ServiceMonitor.monitoring.coreos.com]}}"
	rsp := composetest.Run(t, modelorchestra.Compose, composetest.Case{
		Composite: meta + spec, Crossplane: true, Observed: map[string]string{"deployment-gateway": onePod, "deployment-chat": onePod},
		Required: map[string][]string{"prerequisites": {absent}},
	})
	said := map[string]*fnv1.Condition{}
	for _, c := range rsp.GetConditions() {
		said[c.GetType()] = c
	}
	const url = "http://stack-model-orchestra-gateway.ns.svc.cluster.local:80/v1"
	if c := said["Serving"]; c.GetReason() != string(reason.Available) || !strings.HasSuffix(c.GetMessage(), url) {
		t.Errorf("Serving is %v, want the URL of the Service", c)
	}
	for _, text := range []string{"the Gateway API", "KEDA", "the Prometheus Operator", "kubectl apply", "helm install"} {
		if c := said["Prerequisites"]; !strings.Contains(c.GetMessage(), text) {
			t.Errorf("Prerequisites is %v, want it to name %s", c, text)
		}
	}
	if d := rsp.GetDesired(); d.GetComposite().GetReady() != fnv1.Ready_READY_TRUE || d.GetResources()["deployment-chat"] == nil {
		t.Errorf("desired are %v", composetest.Names(rsp))
	}
}

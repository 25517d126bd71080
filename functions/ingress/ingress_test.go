package ingress_test

import (
	"testing"

	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/ingress"
	"github.com/gorizond/koldun/functions/reason"
)

const meta = "apiVersion: koldun.gorizond.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: ns, generation: 3}\n"

func TestIngress(t *testing.T) {
	queue := map[string]string{"queue": composetest.Ready}
	running := map[string]string{"queue": composetest.Ready, "gateway": composetest.OnePod, "dispatcher": composetest.OnePod}
	demand := "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {sessions: [{key: a}, {key: b}]}}"
	composetest.Table(t, ingress.Compose, map[string]composetest.Case{
		"New":        {Composite: meta + "spec: {}", Reason: reason.ConnectionPending, Says: "being prepared"},
		"Queue":      {Composite: meta + "spec: {}", Observed: queue, Reason: reason.GatewayStarting, Says: "i-gateway"},
		"Gateway":    {Composite: meta + "spec: {}", Observed: map[string]string{"queue": composetest.Ready, "gateway": composetest.OnePod}, Reason: reason.GatewayStarting, Says: `Deployment "i-dispatcher" has`},
		"Dispatcher": {Composite: meta + "spec: {}", Observed: map[string]string{"queue": composetest.Ready, "dispatcher": composetest.OnePod}, Reason: reason.GatewayStarting, Says: `Deployment "i-gateway" has`},
		"GatewayScales": {Composite: meta + "spec: {}", Observed: map[string]string{
			"queue": composetest.Ready, "gateway": "metadata: {generation: 2}\nstatus: {observedGeneration: 1, readyReplicas: 2}", "dispatcher": composetest.OnePod,
		}, Reason: reason.Available},
		"Ready":              {Composite: meta + "spec: {}", Observed: map[string]string{"queue": composetest.Ready, "gateway": composetest.OnePod, "dispatcher": composetest.OnePod, "tokenset": "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {tokens: 4}}", "demanded": demand}, Reason: reason.Available, Says: "http://i-gateway.ns.svc.cluster.local:8082/v1"},
		"QueueLost":          {Composite: meta + "spec: {}", Observed: map[string]string{"gateway": composetest.OnePod, "dispatcher": composetest.OnePod}, Reason: reason.Available},
		"NATSInvalid":        {Composite: meta + "spec: {backend: {nats: {url: 'http://h'}}}", Reason: reason.ConnectionInvalid, Says: "spec.backend.nats.url"},
		"NATSInvalidRunning": {Composite: meta + "spec: {backend: {nats: {url: 'http://h'}}}", Observed: map[string]string{"gateway": composetest.OnePod, "dispatcher": composetest.OnePod, "queue": "spec: {providerConfigRef: {kind: ProviderConfig, name: kept}}"}, Reason: reason.ConnectionInvalid},
		"Static":             {Composite: meta + "spec: {backend: {sessions: Static, allowAnonymous: true}}", Observed: running, Reason: reason.Available},
		"DemandRefused":      {Composite: meta + "spec: {}", Observed: map[string]string{"queue": composetest.Ready, "gateway": composetest.OnePod, "dispatcher": composetest.OnePod, "demanded": "status: {conditions: [{type: Ready, status: 'False', message: no rights}]}"}, Reason: reason.ConnectionPending, Says: "no rights"},
		"Backend": {
			Composite: meta + `spec: {backend: {image: g, dispatcherImage: d, replicas: 3, resources: {limits: {cpu: 1}}, imagePullPolicy: Always, priorityClassName: high, isolation: token, maxSessions: 4, conversationTTL: 5m, requestTimeout: 3m,
  strictParameters: true, responseTimeout: 1m, queueTimeout: 2m, hashSecret: s, limits: {requestsPerMinute: 1, tokensPerMinute: 2, concurrentRequests: 3},
  queue: {maxPerSession: 4, maxPerTenant: 5, maxBytes: 2Gi, replicas: 3, maxAttempts: 5}, extraArgs: [--x], replicaPower: 1, rootImage: r, sessionScaling: {maxDllamas: 2},
  responses: {ttl: 1h, maxBytes: 64Mi}, nats: {url: 'nats://u:p@h:4222'}}}`,
			Observed: running, Reason: reason.Available,
		},
		"Environment": {
			Composite: meta + `spec: {backend: {corsOrigins: ['*'], maxBodySize: 1Mi, reasoning: inline, backendEnvFrom: [{prefix: P_, secretRef: {name: s}}, {configMapRef: {name: c}}],
  backendEnv: [{name: OTEL_EXPORTER_OTLP_ENDPOINT, value: 'http://otel:4318'}, {name: OTEL_EXPORTER_OTLP_HEADERS, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: OTEL_SERVICE_NAME, valueFrom: {configMapKeyRef: {name: c, key: k}}}],
  env: [{name: HTTPS_PROXY, value: 'http://proxy:3128'}]}}`,
			Observed: running, Reason: reason.Available,
		},
		"Defaults": {
			Composite: meta + "spec: {backend: {isolation: model, maxSessions: 8, conversationTTL: 10m, replicaPower: 0, limits: {}, responses: {maxBytes: 256Mi}, queue: {maxAttempts: 3}}}",
			Observed:  running, Reason: reason.Available,
		},
		"HashSecretRef": {Composite: meta + "spec: {backend: {hashSecret: ignored, hashSecretRef: {name: s, key: k}}}", Observed: running, Reason: reason.Available},
		"Service":       {Composite: meta + "spec: {service: {type: LoadBalancer, port: 80, annotations: {a: b}}}", Observed: running, Reason: reason.Available, Says: ":80/v1"},
		"Route":         {Composite: meta + "spec: {route: {host: h, ingressClassName: nginx, pathType: Exact, path: /llm/, annotations: {a: b}, tls: [{secretName: t}, {secretName: u, hosts: [x]}]}}", Observed: running, Reason: reason.Available, Says: "https://h/llm/v1"},
		"RoutePath":     {Composite: meta + "spec: {route: {host: h, path: /llm/}}", Observed: running, Reason: reason.Available, Says: "http://h/llm/v1"},
		"RouteAPI":      {Composite: meta + "spec: {route: {host: h, path: /v1}}", Observed: running, Reason: reason.Available, Says: "http://h/v1"},
		"RoutePlain":    {Composite: meta + "spec: {route: {host: h, pathType: ImplementationSpecific}}", Observed: running, Reason: reason.Available, Says: "http://h/v1"},
		"GatewayAPI":    {Composite: meta + "spec: {route: {host: h, annotations: {a: b}, gateways: [{name: g, namespace: infra, sectionName: web}, {name: x}]}}", Observed: running, Reason: reason.Available, Says: "http://h/v1"},
		"GatewayExact":  {Composite: meta + "spec: {route: {host: h, path: /p, pathType: exact, gateways: [{name: g}]}}", Observed: running, Reason: reason.Available},
		"Legacy": {
			Composite: meta + "spec: {backend: {dispatcherMetricsListen: ':1', queue: {stateStream: s}, sessionScaling: {activeRequests: 1}, nats: {kvBucket: a, ttlPrefix: b, modelsBucket: other, tokensBucket: koldun_tokens, modelPrefix: model/, tokenPrefix: t/}}}",
			Reason:    reason.ConnectionPending,
		},
	})
}

func TestIngressWithoutNamespaceIsRefused(t *testing.T) {
	composetest.Refuses(t, ingress.Compose, "apiVersion: koldun.gorizond.io/v1\nkind: Ingress\nmetadata: {name: i}\nspec: {}")
}

package dllama_test

import (
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/dllama"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/session"
	"github.com/gorizond/koldun/internal/names"
)

const (
	meta = "apiVersion: koldun.gorizond.io/v1\nkind: Dllama\nmetadata: {name: d, namespace: ns, generation: 3}\n"
	ref  = "modelRef: {name: m}"

	files    = "url: s3://b/x, bucket: b, modelFile: a.m, tokenizerFile: a.t, weights: q40, sizeBytes: 1, size: 1 B"
	header   = ", shape: {arch: llama, dim: 4096, hiddenDim: 14336, layers: 32, heads: 32, kvHeads: 8, headDim: 128, vocabSize: 128256, seqLen: 131072, weights: q40}"
	short    = ", shape: {arch: llama, dim: 64, hiddenDim: 64, layers: 1, heads: 2, kvHeads: 2, headDim: 32, vocabSize: 64, seqLen: 2048, weights: q40}"
	inVolume = "metadata: {name: m, namespace: ns}\nspec: {preConverted: true, preConvertedPVCName: claim, preConvertedSizeBytes: 6743000000}\nstatus: "
	served   = "status: {artifact: {model: ns/m, " + files + "}}\n"
)

func model(spec, artifact string) string {
	return "metadata: {name: m, namespace: ns}\nspec: {allowedNamespaces: [ns], " + spec + "}\nstatus: {outputPVCName: claim, artifact: {" + artifact + "}}"
}

func with(manifests ...string) map[string][]string {
	return map[string][]string{"model": manifests, "ingresses": {}, "namesake": {}}
}

// TestParts has a Dllama with a Model and an Ingress of its own, through their Parts.
func TestParts(t *testing.T) {
	const (
		both    = meta + "spec: {model: {sourceUrl: hf://a/b}, expose: {}}"
		trouble = "status: {conditions: [{type: Synced, status: 'False', message: has another owner}]}"
		failed  = "status: {atProvider: {reason: DownloadFailed, message: disk full}}"
		ofPods  = "status: {atProvider: {reason: Unschedulable, message: no room}}"
		whole   = "spec: {forProvider: {template: {spec: {sourceUrl: hf://a/b}}}}\nstatus: {atProvider: {serving: true, outputs: {artifact: {" + files + "}}}, conditions: [{type: Ready, status: 'True'}]}"
		served  = "status: {atProvider: {serving: true, outputs: {backendServiceName: s, url: 'http://h/v1'}}, conditions: [{type: Ready, status: 'True'}]}"
		opens   = "status: {atProvider: {outputs: {backendServiceName: s}}}"
		planned = "status: {atProvider: {outputs: {shape: {arch: llama, dim: 64, hiddenDim: 64, layers: 1, heads: 2, kvHeads: 2, headDim: 32, vocabSize: 64, seqLen: 2048, weights: q40}}}}"
		earlier = "spec: {forProvider: {template: {annotations: {koldun.gorizond.io/runtime: earlier}}}}"
	)
	stays := func(part string) string {
		return strings.Replace(part, "conditions: [", "conditions: [{type: Synced, status: 'False', message: no rights}, ", 1)
	}
	parts := func(model, ingress string) map[string]string {
		return map[string]string{"model-part": model, "ingress-part": ingress, "root": composetest.OnePod}
	}
	composetest.Table(t, dllama.Compose, map[string]composetest.Case{
		"PartsNew":           {Composite: both, Reason: reason.ModelPending},
		"PartsPending":       {Composite: both, Observed: parts("{}", "{}"), Reason: reason.ModelPending, Says: "see its condition Serving"},
		"PartModelTrouble":   {Composite: both, Observed: parts(trouble, "{}"), Reason: reason.ModelPending, Says: `Model "d" is not ready: has another owner`},
		"PartModelFailed":    {Composite: both, Observed: parts(failed, "{}"), Reason: reason.ModelFailed, Says: "disk full"},
		"PartModelPods":      {Composite: both, Observed: parts(ofPods, "{}"), Reason: reason.Unschedulable, Says: "no room"},
		"PartIngressTrouble": {Composite: both, Observed: parts(whole, trouble), Reason: reason.GatewayStarting, Says: `Ingress "d" is not ready: has another owner`},
		"PartIngressPods":    {Composite: both, Observed: parts(whole, ofPods), Reason: reason.Unschedulable, Says: "no room"},
		"PartIngressOpens":   {Composite: both, Observed: parts(whole, opens), Reason: reason.GatewayStarting, Says: "see its condition Serving"},
		"PartsReady":         {Composite: both, Observed: parts(whole, served), Reason: reason.Available},
		"PartsUnchanged":     {Composite: both, Observed: parts(stays(whole), stays(served)), Reason: reason.Available, Says: `on 1 node. Model "d" stays as it was: no rights. Ingress "d" stays as it was: no rights`},
		"PartPlanned":        {Composite: meta + "spec: {nodes: 4, model: {sourceUrl: hf://a/b}}", Observed: parts(planned, "{}"), Reason: reason.TopologyInvalid, Says: "spec.nodes: cannot spread"},
		"PartRefusedTwice":   {Composite: meta + "spec: {engine: {type: embedded}, nodes: 2, model: {sourceUrl: hf://a/b}}", Observed: map[string]string{"model-part": earlier}, Reason: reason.TopologyInvalid},
		// An earlier version composed the Model and the Ingress directly.
		"PartsNotComposed": {Composite: both, Observed: map[string]string{"model": model("sourceUrl: hf://a/b", files), "ingress": "status: {backendServiceName: s}", "root": composetest.OnePod}, Reason: reason.GatewayStarting},
		"PartOfNewIngress": {Composite: both, Observed: map[string]string{"model": model("sourceUrl: hf://a/b", files)}, Reason: reason.GatewayStarting},
	})
}

func TestDllama(t *testing.T) {
	memberName := `"d-` + names.Hash(8, "dllama", "d") + `-0"`
	connected := map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready}
	running := map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready, "root": composetest.OnePod}
	member := map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready, "member": composetest.Ready, "root": composetest.OnePod}
	plain := with(model("", files))
	const rootPod = "metadata: {name: d-root, namespace: ns, uid: u, labels: {a: b, crossplane.io/composite: d}, annotations: {c: d}}\nspec: {replicas: 1}\nstatus: {readyReplicas: 1}"
	kept := map[string]string{"root": rootPod, "workers": "spec: {replicas: 3}", "runners": composetest.Ready, "bucket": composetest.Ready}
	const serving = ", conditions: [{type: Serving, status: 'True', reason: Available}]"
	// admitted is a Dllama with an Ingress, and with a Pool unless it is empty.
	admitted := func(pool, ingress string) map[string]string {
		out := map[string]string{"ingress": "status: {backendServiceName: s, url: 'http://h/v1'" + ingress + "}", "member": composetest.Ready}
		if pool != "" {
			out["pool"] = pool
		}
		return out
	}
	members := func(list string) string {
		return "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {members: [" + list + "]}}"
	}
	group := "rootImage: dllama, " + ref
	const noRoom = "status: {atProvider: {reason: Unschedulable, message: no node has 4.0 GiB}}"
	planned := with("metadata: {name: m, namespace: ns}\nstatus: {conditions: [{type: Serving, status: 'False', reason: Downloading, message: 3 %}]" + header + "}")
	composetest.Table(t, dllama.Compose, map[string]composetest.Case{
		"NoModel":           {Composite: meta + "spec: {}", Reason: reason.ModelNotFound, Says: "Neither"},
		"ModelUnread":       {Composite: meta + "spec: {" + ref + "}", Reason: reason.ModelPending},
		"ModelAbsent":       {Composite: meta + "spec: {" + ref + "}", Required: with(), Reason: reason.ModelNotFound, Says: `"m" does not exist in namespace "ns"`},
		"ModelAbsentServed": {Composite: meta + "spec: {" + ref + "}\n" + served, Required: with(), Observed: running, Reason: reason.ModelNotFound},
		"ModelUnreadServed": {Composite: meta + "spec: {" + ref + "}\n" + served, Observed: running, Reason: reason.Available},
		"OtherServed":       {Composite: meta + "spec: {modelRef: {name: other}}\n" + served, Observed: running, Reason: reason.ModelPending},
		"ModelPending":      {Composite: meta + "spec: {" + ref + "}", Required: with("metadata: {name: m}\nstatus: {conditions: [{type: Serving, status: 'False', reason: Downloading, message: 3 %}]}"), Reason: reason.ModelPending},
		"ModelFailed":       {Composite: meta + "spec: {" + ref + "}", Required: with("metadata: {name: m}\nstatus: {conditions: [{type: Serving, status: 'False', reason: DownloadFailed, message: disk full}]}"), Reason: reason.ModelFailed, Says: "disk full"},

		"Connections":        {Composite: meta + "spec: {" + ref + "}", Required: plain, Reason: reason.ConnectionPending},
		"ConnectionsRunning": {Composite: meta + "spec: {" + ref + "}", Required: plain, Observed: map[string]string{"root": composetest.OnePod}, Reason: reason.Available},
		"Starting":           {Composite: meta + "spec: {" + ref + "}", Required: plain, Observed: connected, Reason: reason.RootStarting, Says: "a.m"},
		"Fetching":           {Composite: meta + "spec: {" + ref + "}", Required: plain, Observed: and(connected, "pods", told("d-root-0", "stage: fetch, bytes: 5, total: 20, percent: 25")), Reason: reason.RootStarting, Says: "the root fetches a.m: 25%"},
		"Loading":            {Composite: meta + "spec: {" + ref + "}", Required: plain, Observed: and(connected, "pods", told("d-root-0", "stage: load, percent: 50, etaSeconds: 70")), Reason: reason.RootStarting, Says: "the root loads a.m: 50%, 70s left"},
		"LoadingOfAnother":   {Composite: meta + "spec: {" + ref + "}", Required: plain, Observed: and(connected, "pods", told("d-root-1", "stage: load, percent: 50")), Reason: reason.RootStarting, Says: "the root loads a.m"},
		"Loaded":             {Composite: meta + "spec: {" + ref + "}", Required: plain, Observed: and(and(connected, "pods", told("d-root-0", "stage: load, percent: 50")), "root", composetest.OnePod), Reason: reason.Available},
		"TemporaryKeys":      {Composite: meta + "spec: {" + ref + "}", Required: plain, Observed: map[string]string{"bucket": "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {temporaryCredentials: true}}", "runners": composetest.Ready}, Reason: reason.RootStarting},
		"Rolling":            {Composite: meta + "spec: {" + ref + "}", Required: plain, Observed: map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready, "root": "status: {replicas: 1, readyReplicas: 1, currentRevision: a, updateRevision: b}"}, Reason: reason.RootStarting},
		"Ready":              {Composite: meta + "spec: {" + ref + "}", Required: plain, Observed: running, Reason: reason.Available, Says: "ns/m is served on 1 node"},
		"OfSession":          {Composite: strings.Replace(meta, "generation: 3", "labels: {koldun.gorizond.io/session: s}, annotations: {koldun.gorizond.io/session-key: ns_m_0123456789abcdef}", 1) + "spec: {" + ref + "}", Required: plain, Observed: running, Reason: reason.Available},
		"NATSInvalid":        {Composite: meta + "spec: {" + ref + ", nats: {url: 'http://h'}}", Required: plain, Reason: reason.ConnectionInvalid, Says: "spec.nats"},
		"NATSInvalidRunning": {Composite: meta + "spec: {" + ref + ", nats: {url: 'http://h'}}", Required: plain, Observed: running, Reason: reason.ConnectionInvalid},

		"Inline":        {Composite: meta + "spec: {model: {sourceUrl: hf://a/b, pipProxy: x}}", Reason: reason.ModelPending},
		"InlineReady":   {Composite: meta + "spec: {model: {sourceUrl: hf://a/b, nats: {url: 'nats://h'}}}", Observed: map[string]string{"runners": composetest.Ready, "root": composetest.OnePod, "model": "metadata: {name: d}\nstatus: {conditions: [{type: Serving, status: 'True', reason: Available}], artifact: {" + files + "}}"}, Reason: reason.Available},
		"InlineExposed": {Composite: meta + "spec: {model: {sourceUrl: hf://a/b}, expose: {allowAnonymous: true}}", Reason: reason.ModelPending},

		"Exposed": {Composite: meta + "spec: {" + ref + ", expose: {service: {port: 80}, route: {host: h}}, nats: {url: 'nats://h'}}", Required: plain, Reason: reason.GatewayStarting, Says: "see its condition Serving"},
		"ExposedTuned": {
			Composite: meta + `spec: {` + ref + `, imagePullPolicy: Always, scheduling: {imagePullSecrets: [{name: registry}], priorityClassName: high}, answerTimeouts: {firstToken: 2h, betweenTokens: 1h, grace: 5m},
  env: [{name: HTTPS_PROXY, value: 'http://proxy:3128'}], envFrom: [{secretRef: {name: s}}],
  expose: {replicas: 2, responseTimeout: 24h, queueTimeout: 2h, limits: {requestsPerMinute: 60}, corsOrigins: ['https://a.example', 'https://b.example'], maxBodySize: 40Mi, reasoning: hidden, responses: {ttl: 24h},
  resources: {limits: {cpu: 1}}, backendScheduling: {priorityClassName: low}, backendEnv: [{name: KOLDUN_LOG_LEVEL, value: debug}], queue: {maxBytes: 64Mi, stateStream: old}}}`,
			Required: plain, Observed: map[string]string{"ingress": "status: {backendServiceName: s}", "bucket": composetest.Ready}, Reason: reason.RootStarting,
		},
		"InlinePulling":   {Composite: meta + "spec: {model: {sourceUrl: hf://a/b, scheduling: {priorityClassName: low}}, imagePullPolicy: Never, scheduling: {imagePullSecrets: [{name: registry}], priorityClassName: high}}", Reason: reason.ModelPending},
		"ExposedFailed":   {Composite: meta + "spec: {" + ref + ", expose: {}}", Required: plain, Observed: map[string]string{"ingress": "status: {conditions: [{type: Serving, status: 'False', reason: ConnectionInvalid, message: no servers}]}"}, Reason: reason.GatewayStarting, Says: "no servers"},
		"ExposedAdmitted": {Composite: meta + "spec: {" + ref + ", expose: {}}", Required: plain, Observed: map[string]string{"ingress": "status: {backendServiceName: s}", "bucket": composetest.Ready}, Reason: reason.RootStarting},
		"ExposedStarting": {Composite: meta + "spec: {" + ref + ", expose: {}}", Required: plain, Observed: map[string]string{"ingress": "status: {backendServiceName: s}", "bucket": composetest.Ready, "root": composetest.OnePod}, Reason: reason.GatewayStarting},
		"ExposedReady":    {Composite: meta + "spec: {" + ref + ", expose: {}}", Required: plain, Observed: map[string]string{"ingress": "status: {backendServiceName: s, url: 'http://h/v1', conditions: [{type: Serving, status: 'True', reason: Available}]}", "bucket": composetest.Ready, "root": composetest.OnePod}, Reason: reason.Available},

		"Scaled":         {Composite: meta + "spec: {" + ref + ", expose: {scaling: {minDllamas: 0, maxDllamas: 2, scaleUpBacklog: 3, scaleDownIdleSeconds: 9}}, nodes: 1, traffic: {model: stable}}", Required: plain, Observed: admitted("", ""), Reason: reason.ConnectionPending},
		"ScaledWeighted": {Composite: meta + "spec: {" + ref + ", expose: {scaling: {}}, traffic: {weight: 0}}", Required: plain, Observed: admitted(members(""), serving), Reason: reason.Idle},
		"ScaledFailed":   {Composite: meta + "spec: {" + ref + ", expose: {scaling: {minDllamas: 0, activeRequests: 3}}}", Required: plain, Observed: admitted(members("{name: '0', reason: ImagePullFailed, message: no such image}"), serving), Reason: reason.ImagePullFailed, Says: memberName + " is not ready: ImagePullFailed: no such image"},
		"ScaledRefused":  {Composite: meta + "spec: {" + ref + ", expose: {scaling: {}}}", Required: plain, Observed: admitted("status: {conditions: [{type: Synced, status: 'False', message: no rights}]}", serving), Reason: reason.ConnectionPending, Says: "no rights"},
		"ScaledUnfit":    {Composite: meta + "spec: {engine: {type: embedded}, " + ref + ", nodes: 2, expose: {scaling: {minDllamas: 0}}}", Required: plain, Reason: reason.TopologyInvalid, Says: "spec.nodes"},
		"ScaledIdle":     {Composite: meta + "spec: {" + ref + ", nats: {url: 'nats://h'}, expose: {scaling: {minDllamas: 0}}}", Required: plain, Observed: admitted(members(""), serving), Reason: reason.Idle, Says: "the first request for ns/m starts a Dllama"},
		"ScaledGateway":  {Composite: meta + "spec: {" + ref + ", expose: {scaling: {minDllamas: 0}}}", Required: plain, Observed: admitted(members(""), ""), Reason: reason.GatewayStarting},
		"ScaledCold":     {Composite: meta + "spec: {" + ref + ", expose: {scaling: {minDllamas: 0}}}", Required: plain, Observed: admitted(members("{name: '0'}"), serving), Reason: reason.Available, Says: "wait for it"},
		"ScaledStarting": {Composite: meta + "spec: {" + ref + ", expose: {scaling: {minDllamas: 1}}}", Required: plain, Observed: admitted(members("{name: '0'}"), serving), Reason: reason.DllamasStarting, Says: memberName + " is not ready"},
		"ScaledReady":    {Composite: meta + "spec: {" + ref + ", expose: {scaling: {minDllamas: 2}}}", Required: plain, Observed: admitted(members("{name: '0', ready: true, readyWorkers: 3}, {name: '1', phase: Draining, reason: OutOfMemory}, {name: '2', phase: Drained}"), serving), Reason: reason.Available, Says: "1 of 2 Dllamas serve ns/m"},
		"ScaledCrowded":  {Composite: meta + "spec: {" + ref + ", expose: {scaling: {minDllamas: 2}}}", Required: plain, Observed: admitted(members("{name: '0', ready: true}, {name: '1', reason: Unschedulable, message: no GPU is free}"), serving), Reason: reason.Available, Says: "1 of 2 Dllamas serve ns/m. Dllama"},
		"ScaledEarlier":  {Composite: meta + "spec: {" + ref + ", expose: {scaling: {}}}", Required: plain, Observed: admitted("spec: {forProvider: {owner: ns/d}}\n"+members("{name: '0'}"), serving), Reason: reason.DllamasStarting, Says: `"d-0" is not ready`},
		"ScaledInline":   {Composite: meta + "spec: {model: {sourceUrl: hf://a/b}, expose: {scaling: {minDllamas: 0}}}\n" + strings.Replace(served, "ns/m", "ns/d", 1), Observed: admitted(members(""), serving), Reason: reason.Idle},
		"ScaledForeign":  {Composite: meta + "spec: {modelRef: {name: m, namespace: other}, expose: {scaling: {minDllamas: 0}}}", Required: plain, Observed: admitted("", ""), Reason: reason.ConnectionPending},

		"Foreign":         {Composite: meta + "spec: {modelRef: {name: m, namespace: other}}", Required: plain, Observed: map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready, "record": composetest.Ready, "root": composetest.OnePod}, Reason: reason.Available, Says: "other/m"},
		"ForeignMember":   {Composite: strings.Replace(meta, "generation: 3", "labels: {koldun.gorizond.io/session: s}", 1) + "spec: {modelRef: {name: m, namespace: other}, expose: {}}", Required: plain, Observed: map[string]string{"root": composetest.OnePod}, Reason: reason.GatewayStarting},
		"Namesake":        {Composite: meta + "spec: {modelRef: {name: m, namespace: other}}", Required: map[string][]string{"model": {model("", files)}, "namesake": {model("", files)}}, Reason: reason.ModelFailed, Says: "rename one"},
		"NamesakeRunning": {Composite: meta + "spec: {modelRef: {name: m, namespace: other}}", Required: map[string][]string{"model": {model("", files)}, "namesake": {model("", files)}}, Observed: running, Reason: reason.ModelFailed},

		"TrafficPending":   {Composite: meta + "spec: {" + ref + ", traffic: {weight: 0}}", Required: plain, Observed: connected, Reason: reason.ConnectionPending},
		"TrafficCanary":    {Composite: meta + "spec: {" + ref + ", traffic: {model: stable, weight: 10}}", Required: plain, Observed: member, Reason: reason.Available, Says: "ns/stable is served on 1 node"},
		"TrafficFallback":  {Composite: meta + "spec: {" + ref + ", expose: {}, traffic: {fallback: true}}", Required: plain, Observed: map[string]string{"ingress": "status: {backendServiceName: s}", "bucket": composetest.Ready, "root": composetest.OnePod, "member": composetest.Ready}, Reason: reason.GatewayStarting},
		"TrafficForeign":   {Composite: meta + "spec: {modelRef: {name: m, namespace: other}, traffic: {model: stable}}", Required: map[string][]string{"model": {model("", files)}, "namesake": {model("", files)}}, Observed: member, Reason: reason.Available, Says: "ns/stable"},
		"TrafficOfSession": {Composite: strings.Replace(meta, "generation: 3", "labels: {koldun.gorizond.io/session: s}, annotations: {koldun.gorizond.io/session-key: ns_stable_0123456789abcdef}", 1) + "spec: {" + ref + ", traffic: {model: stable}}", Required: plain, Observed: running, Reason: reason.Available},

		"PVC":               {Composite: meta + "spec: {" + ref + ", delivery: pvc}", Required: plain, Observed: running, Reason: reason.Available},
		"VolumeOnly":        {Composite: meta + "spec: {" + ref + "}", Required: with(model("", strings.Replace(files, "url: s3://b/x, ", "", 1))), Observed: running, Reason: reason.Available},
		"VolumeOnlyFetched": {Composite: meta + "spec: {" + ref + ", delivery: fetch}", Required: with(model("", strings.Replace(files, "url: s3://b/x, ", "", 1))), Reason: reason.DeliveryImpossible, Says: "use pvc"},
		"NoVolume":          {Composite: meta + "spec: {" + ref + ", delivery: csi}", Required: with(strings.Replace(model("", files), "outputPVCName: claim, ", "", 1)), Reason: reason.DeliveryImpossible, Says: "spec.pv"},
		"ForeignRefused": {
			Composite: meta + "spec: {modelRef: {name: m, namespace: other}}", Required: with(strings.Replace(model("", files), "allowedNamespaces: [ns]", "allowedNamespaces: ['n', other, ns2]", 1)),
			Reason: reason.ModelNotFound, Says: `or its spec.allowedNamespaces lacks namespace "ns"`,
		},
		"ForeignAbsent": {Composite: meta + "spec: {modelRef: {name: m, namespace: other}}", Required: with(), Reason: reason.ModelNotFound, Says: `or its spec.allowedNamespaces lacks namespace "ns"`},
		"ForeignToAll": {
			Composite: meta + "spec: {modelRef: {name: m, namespace: other}}", Required: with(strings.Replace(model("", files), "[ns]", "['*']", 1)), Reason: reason.ConnectionPending,
		},
		"ForeignVolume": {Composite: meta + "spec: {modelRef: {name: m, namespace: other}, delivery: pvc}", Required: plain, Reason: reason.DeliveryImpossible, Says: `"other"`},
		"ForeignStore":  {Composite: meta + "spec: {modelRef: {name: m, namespace: other}}", Required: with(model("", files+", providerConfigRef: {kind: ProviderConfig, name: p}")), Reason: reason.DeliveryImpossible, Says: "ClusterProviderConfig"},
		"ForeignSharedStore": {
			Composite: meta + "spec: {modelRef: {name: m, namespace: other}}", Required: with(model("", files+", providerConfigRef: {kind: ClusterProviderConfig, name: p}")), Reason: reason.ConnectionPending,
		},

		"EmbeddedOnTwo":    {Composite: meta + "spec: {engine: {type: embedded}, " + ref + ", nodes: 2}", Required: plain, Reason: reason.TopologyInvalid, Says: "spec.nodes: the embedded engine runs on 1 node, not on 2: use 1, or spec.engine.type distributed-llama"},
		"EmbeddedOnPower":  {Composite: meta + "spec: {engine: {type: embedded}, " + ref + ", replicaPower: 2}", Required: plain, Reason: reason.TopologyInvalid, Says: "spec.replicaPower: the embedded engine runs on 1 node, not on 4: use 0, or"},
		"EmbeddedOnModels": {Composite: meta + "spec: {engine: {type: embedded}, " + ref + "}", Required: with(model("replicaPower: 1", files)), Reason: reason.TopologyInvalid, Says: "spec.replicaPower"},
		"EmbeddedByName":   {Composite: meta + "spec: {rootImage: i, engine: {type: embedded}, nodes: 2, " + ref + "}", Required: plain, Reason: reason.TopologyInvalid},
		"KoldunsImage":     {Composite: meta + "spec: {rootImage: 'ghcr.io/gorizond/koldun:latest', workerImage: 'ghcr.io/gorizond/koldun:latest', " + ref + "}", Required: plain, Observed: running, Reason: reason.Available},
		"KoldunsOnFour":    {Composite: meta + "spec: {rootImage: 'ghcr.io/gorizond/koldun:latest', workerImage: 'ghcr.io/gorizond/koldun:latest', replicaPower: 2, " + ref + "}", Required: plain, Observed: connected, Reason: reason.WorkersStarting},
		"NothingOnFour":    {Composite: meta + "spec: {replicaPower: 2, " + ref + "}", Required: plain, Observed: connected, Reason: reason.WorkersStarting},
		"EngineByName":     {Composite: meta + "spec: {engine: {type: distributed-llama}, " + ref + "}", Required: plain, Observed: running, Reason: reason.Available},
		"SlotsOfRoot":      {Composite: meta + "spec: {engine: {type: distributed-llama, slots: 2}, " + ref + "}", Required: plain, Reason: reason.TopologyInvalid, Says: "spec.engine.slots: the distributed-llama engine computes 1 request at a time"},
		"Slots":            {Composite: meta + "spec: {engine: {slots: 8, maxSeqLen: 512}, " + ref + "}", Required: with(model("", files+header)), Observed: running, Reason: reason.Available},
		"WeightsUnfit":     {Composite: meta + "spec: {" + ref + "}", Required: with(model("", strings.Replace(files, "q40", "q80", 1))), Reason: reason.TopologyInvalid, Says: `"q80"`},
		"BuffersUnfit":     {Composite: meta + "spec: {" + ref + ", engine: {bufferFloatType: f32}}", Required: plain, Reason: reason.TopologyInvalid, Says: "spec.engine.bufferFloatType"},
		"BuffersOfModel":   {Composite: meta + "spec: {" + ref + "}", Required: with(model("launchOptions: [--buffer-float-type, f32]", files)), Reason: reason.TopologyInvalid},
		"TooManyNodes":     {Composite: meta + "spec: {nodes: 16, " + group + "}", Required: with(model("", files+header)), Reason: reason.TopologyInvalid, Says: "spec.nodes: cannot spread"},

		"Plan":         {Composite: meta + "spec: {" + ref + "}", Required: with(model("", files+header)), Observed: running, Reason: reason.Available},
		"PlanWidened":  {Composite: meta + "spec: {rootMemory: {overheadMaxRatio: 1.5}, rootResources: {requests: {cpu: 1}}, " + ref + "}", Required: with(model("", files+header)), Observed: running, Reason: reason.Available},
		"PlanShrunk":   {Composite: meta + "spec: {rootMemory: {overheadMaxRatio: 0.5}, rootResources: {limits: {memory: 1Gi}}, " + ref + "}", Required: with(model("", files+header)), Observed: running, Reason: reason.Available},
		"PlanAsked":    {Composite: meta + "spec: {rootResources: {requests: {memory: 1Gi}}, " + ref + "}", Required: with(model("", files+header)), Observed: running, Reason: reason.Available},
		"ShortContext": {Composite: meta + "spec: {" + ref + "}", Required: with(model("", files+short)), Observed: running, Reason: reason.Available},

		"PlannedTooManyNodes": {Composite: meta + "spec: {nodes: 16, " + group + "}", Required: planned, Reason: reason.TopologyInvalid, Says: "spec.nodes: cannot spread"},
		"PlannedTooLong":      {Composite: meta + "spec: {engine: {maxSeqLen: 200000}, " + group + "}", Required: planned, Reason: reason.TopologyInvalid, Says: "spec.engine.maxSeqLen: cannot serve a context of 200000 tokens"},
		"PlannedFits":         {Composite: meta + "spec: {nodes: 4, " + group + "}", Required: planned, Reason: reason.ModelPending, Says: "see its condition"},
		"PlannedNoRoom":       {Composite: meta + "spec: {nodes: 4, scheduling: {nodeSelector: {gpu: a}, tolerations: [{key: own}]}, rootResources: {requests: {cpu: 2, memory: 4Gi}, limits: {nvidia.com/gpu: 1}}, " + group + "}", Required: planned, Observed: map[string]string{"pods": noRoom}, Reason: reason.Unschedulable, Says: "no node has 4.0 GiB"},
		"FailedNoRoom":        {Composite: meta + "spec: {nodes: 4, " + group + "}", Required: with("metadata: {name: m, namespace: ns}\nstatus: {conditions: [{type: Serving, status: 'False', reason: DownloadFailed, message: disk full}]" + header + "}"), Observed: map[string]string{"pods": noRoom}, Reason: reason.ModelFailed, Says: "disk full"},
		"RootLimitTooSmall":   {Composite: meta + "spec: {nodes: 4, rootResources: {limits: {memory: 1Gi}}, " + group + "}", Required: with(model("", files+header)), Reason: reason.TopologyInvalid, Says: "limits.memory of spec.rootResources: on 4 nodes at a context of 4096 tokens the root needs"},
		"WorkerLimitTooSmall": {Composite: meta + "spec: {nodes: 4, workerResources: {limits: {memory: 100Mi}}, " + group + "}", Required: planned, Reason: reason.TopologyInvalid, Says: "limits.memory of spec.workerResources: on 4 nodes at a context of 4096 tokens a worker needs"},
		"InlineTwoOnEmbedded": {Composite: meta + "spec: {engine: {type: embedded}, nodes: 2, model: {sourceUrl: hf://a/b}}", Reason: reason.TopologyInvalid, Says: "spec.nodes: the embedded engine runs on 1 node"},
		"InlineTwoLate":       {Composite: meta + "spec: {engine: {type: embedded}, nodes: 2, model: {sourceUrl: hf://a/b}}", Observed: map[string]string{"model": "{}"}, Reason: reason.TopologyInvalid},
		"RequestAboveLimit":   {Composite: meta + "spec: {rootResources: {requests: {cpu: 3, memory: 2Gi}, limits: {cpu: 3, memory: 1Gi}}, " + ref + "}", Required: plain, Reason: reason.TopologyInvalid, Says: "requests of spec.rootResources: memory of 2Gi is more than its limit, 1Gi"},
		"RequestInline":       {Composite: meta + "spec: {workerResources: {requests: {cpu: 3}, limits: {cpu: 2}}, model: {sourceUrl: hf://a/b}}", Reason: reason.TopologyInvalid, Says: "requests of spec.workerResources: cpu of 3"},
		"RequestTooSmall":     {Composite: meta + "spec: {nodes: 2, " + group + ", rootResources: {requests: {memory: 1Gi}}, workerResources: {requests: {memory: 2Gi}, limits: {memory: 8Gi}}}", Required: with(model("", files+header)), Observed: running, Reason: reason.WorkersStarting},
		"RequestEnough":       {Composite: meta + "spec: {nodes: 2, " + group + ", rootResources: {requests: {memory: 8Gi}}, workerResources: {limits: {memory: 8Gi}}}\nstatus: {conditions: [{type: Requested, status: 'False'}]}", Required: with(model("", files+header)), Observed: running, Reason: reason.WorkersStarting},
		"InVolumeTooSmall":    {Composite: meta + "spec: {" + group + ", nodes: 2, rootResources: {limits: {memory: 1Gi}}}", Required: with(inVolume + "{}"), Reason: reason.TopologyInvalid, Says: "limits.memory of spec.rootResources: on 2 nodes the root needs at least"},
		"InVolumePending":     {Composite: meta + "spec: {engine: {bufferFloatType: f32}, " + group + ", nodes: 4, rootResources: {limits: {memory: 2Gi}}}", Required: with(inVolume + "{conditions: [{type: Serving, status: 'False', reason: Inspecting, message: x}]}"), Reason: reason.ModelPending},
		"InlineVolume":        {Composite: meta + "spec: {rootImage: dllama, model: {preConverted: true, preConvertedPVCName: claim, preConvertedSizeBytes: 6743000000}, rootResources: {limits: {memory: 4Gi}}}", Reason: reason.TopologyInvalid, Says: "at least 2 nodes"},
		"InlineVolumeEnough":  {Composite: meta + "spec: {rootImage: dllama, model: {preConverted: true, preConvertedPVCName: claim, preConvertedSizeBytes: 6743000000}, rootResources: {limits: {memory: 7Gi}}}", Reason: reason.ModelPending},
		"InlineVolumeOnOne":   {Composite: meta + "spec: {engine: {type: embedded}, nodes: 2, model: {preConverted: true, preConvertedPVCName: claim}}", Reason: reason.TopologyInvalid, Says: "spec.nodes"},
		"InlineMemory":        {Composite: meta + "spec: {rootImage: dllama, engine: {bufferFloatType: q80}, rootResources: {limits: {memory: 1Gi}}, model: {sourceUrl: hf://a/b, replicaPower: 1, launchOptions: [--max-seq-len, '512']}}", Reason: reason.ModelPending},

		"RootLimitRunning":   {Composite: meta + "spec: {nodes: 4, rootResources: {limits: {memory: 1Gi}}, " + group + "}\n" + served, Required: with(model("", files+header)), Observed: kept, Reason: reason.TopologyInvalid, Says: "the root needs"},
		"InlineRefusedTwice": {Composite: meta + "spec: {engine: {type: embedded}, nodes: 2, model: {sourceUrl: hf://a/b}}", Observed: map[string]string{"model": "metadata: {annotations: {koldun.gorizond.io/runtime: earlier}}"}, Reason: reason.TopologyInvalid},
		"ScalingUnconnected": {Composite: meta + "spec: {" + ref + ", nats: {url: 'http://h'}, expose: {scaling: {}}}\n" + served, Required: plain, Observed: map[string]string{"root": rootPod, "ingress": "status: {backendServiceName: s}", "runners": "spec: {providerConfigRef: {kind: ProviderConfig, name: p}}"}, Reason: reason.ConnectionInvalid, Says: "spec.nats.url"},

		"Group": {
			Composite: meta + "spec: {nodes: 4, engine: {threads: 2, gpuIndex: 1, extraArgs: [--x, z], maxSeqLen: 1024}, imagePullPolicy: Always, scheduling: {topologySpreadConstraints: [{topologyKey: zone}]}, " + group + "}",
			Required:  with(model("", files+header)), Observed: connected, Reason: reason.WorkersStarting, Says: "3 workers",
		},
		"GroupStarting": {Composite: meta + "spec: {nodes: 4, " + group + "}", Required: with(model("", files+header)), Observed: map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready, "workers": "status: {readyReplicas: 2}", "root": composetest.OnePod}, Reason: reason.WorkersStarting},
		"GroupRolling":  {Composite: meta + "spec: {nodes: 4, " + group + "}", Required: with(model("", files+header)), Observed: map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready, "workers": "status: {replicas: 3, readyReplicas: 3, updatedReplicas: 1, currentRevision: a, updateRevision: b}", "root": composetest.OnePod}, Reason: reason.WorkersStarting},
		"GroupRootLast": {Composite: meta + "spec: {nodes: 4, " + group + "}", Required: with(model("", files+header)), Observed: map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready, "workers": "status: {readyReplicas: 3}"}, Reason: reason.RootStarting},
		"GroupReady":    {Composite: meta + "spec: {replicaPower: 2, workerImage: w, " + group + "}", Required: with(model("", files+header)), Observed: map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready, "workers": "status: {readyReplicas: 4}", "root": composetest.OnePod}, Reason: reason.Available, Says: "4 nodes"},
		"GroupOfMany":   {Composite: meta + "spec: {nodes: 8, workerImage: w, " + ref + "}", Required: plain, Observed: map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready, "workers": "status: {readyReplicas: 5}", "root": composetest.OnePod, "budget": "metadata: {annotations: {koldun.gorizond.io/group: other}}"}, Reason: reason.WorkersStarting},
		"Launch":        {Composite: meta + "spec: {" + group + "}", Required: with(model("launchOptions: [--nthreads=6, --max-seq-len, '2048', --buffer-float-type=q80]", files)), Observed: running, Reason: reason.Available},
		"LaunchInvalid": {Composite: meta + "spec: {" + group + "}", Required: with(model("launchOptions: [--nthreads=513, --max-seq-len, '31']", files)), Observed: running, Reason: reason.Available},
		"LaunchEdges":   {Composite: meta + "spec: {" + group + "}", Required: with(model("launchOptions: [--nthreads=512, --max-seq-len, '32']", files)), Observed: running, Reason: reason.Available},
		"LaunchLoses":   {Composite: meta + "spec: {engine: {threads: 3}, " + group + "}", Required: with(model("launchOptions: [--nthreads=6]", files)), Observed: running, Reason: reason.Available},
	})
}

// TestTemporaryKeys composes a Dllama whose inline Model has temporary credentials for
// the object store: it has others, which may only read.
func TestTemporaryKeys(t *testing.T) {
	composetest.Table(t, dllama.Compose, map[string]composetest.Case{
		"InlineTemporaryKeys": {Composite: meta + "spec: {model: {sourceUrl: hf://a/b, nats: {url: 'nats://h'}}}", Observed: map[string]string{"bucket": "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {temporaryCredentials: true}}", "runners": composetest.Ready, "root": composetest.OnePod, "model": "metadata: {name: d}\nstatus: {conditions: [{type: Serving, status: 'True', reason: Available}], artifact: {temporaryCredentials: true, " + files + "}}"}, Reason: reason.Available},
	})
}

// server is the engine of a claim with a server.
func server(fields string) string { return "engine: {type: openai, server: {" + fields + "}}" }

const source = "url: s3://b/x, bucket: b, modelFile: '', tokenizerFile: '', weights: '', sizeBytes: 16000000000, size: 16 GB"

func TestServer(t *testing.T) {
	running := map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready, "record": composetest.Ready, "registry": composetest.Ready, "root": composetest.OnePod}
	lone := map[string][]string{"ingresses": {}, "namesake": {}}
	plain := with(model("", source))
	gguf := with(model("", strings.Replace(source, "modelFile: ''", "modelFile: m-q4.gguf", 1)))
	gpus := "rootResources: {limits: {nvidia.com/gpu: 2}}, workerResources: {limits: {nvidia.com/gpu: 2}}"
	threads := strings.Replace(server("profile: vllm"), "type:", "threads: 4, type:", 1)
	url := "url: 'https://api.example.com/v1'"
	composetest.Table(t, dllama.Compose, map[string]composetest.Case{
		"ServerExternal":         {Composite: meta + "spec: {" + server(url+", apiKeySecretRef: {name: keys, key: token}, model: gpt-oss, slots: 8, features: [tools]") + "}", Required: lone, Observed: running, Reason: reason.Available, Says: "ns/d"},
		"ServerExternalStarting": {Composite: meta + "spec: {" + server(url) + "}", Required: lone, Observed: map[string]string{"runners": composetest.Ready, "record": composetest.Ready, "registry": composetest.Ready}, Reason: reason.RootStarting, Says: `the server at "https://api.example.com/v1" has not generated a token yet`},
		"ServerExternalExposed":  {Composite: meta + "spec: {expose: {}, " + server(url) + "}", Required: lone, Observed: map[string]string{"ingress": "status: {backendServiceName: s}"}, Reason: reason.ConnectionPending},
		"ServerExternalOfModel":  {Composite: meta + "spec: {" + ref + ", " + server(url) + "}", Required: with(model("", files)), Observed: running, Reason: reason.Available, Says: "ns/m"},
		"ServerExternalNoModel":  {Composite: meta + "spec: {" + ref + ", " + server(url) + "}", Required: with(), Reason: reason.ModelNotFound},
		"ServerExternalNamesake": {Composite: meta + "spec: {" + server(url) + "}", Required: map[string][]string{"ingresses": {}, "namesake": {model("", files)}}, Reason: reason.ModelFailed, Says: "spec.modelRef"},
		"ServerExternalImage":    {Composite: meta + "spec: {rootImage: i, " + server(url) + "}", Required: lone, Reason: reason.TopologyInvalid, Says: "spec.rootImage"},
		"ServerExternalWorkers":  {Composite: meta + "spec: {nodes: 2, " + server(url+", profile: vllm") + "}", Required: lone, Reason: reason.TopologyInvalid, Says: "spec.nodes: the openai engine runs on 1 node, not on 2: use 1, or a server of profile vllm or sglang in the pods"},
		"ServerExternalDelivery": {Composite: meta + "spec: {delivery: pvc, " + server(url) + "}", Required: lone, Reason: reason.TopologyInvalid, Says: "spec.delivery"},

		"ServerDownload": {
			Composite: meta + "spec: {" + server("profile: ollama, source: download, model: 'qwen3:8b', cache: {claimName: models}, env: [{name: OLLAMA_NOPRUNE, value: '0'}, {name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hub, key: token}}}, {name: X, valueFrom: {configMapKeyRef: {name: c, key: k}}}]") + "}",
			Required:  lone, Observed: running, Reason: reason.Available,
		},
		"ServerStarting": {Composite: meta + "spec: {" + server("profile: vllm, source: download, model: Qwen/Qwen3-8B") + "}", Required: lone, Observed: map[string]string{"runners": composetest.Ready, "record": composetest.Ready, "registry": composetest.Ready}, Reason: reason.RootStarting, Says: "the root loads ns/d"},

		"ServerFiles":         {Composite: meta + "spec: {" + ref + ", rootResources: {limits: {nvidia.com/gpu: 1}}, " + strings.Replace(server("profile: vllm, args: [--enable-auto-tool-choice]"), "type:", "maxSeqLen: 8192, type:", 1) + "}", Required: plain, Observed: running, Reason: reason.Available},
		"ServerVolume":        {Composite: meta + "spec: {" + ref + ", delivery: pvc, " + server("profile: llama.cpp, slots: 2, startupTimeout: 5m") + "}", Required: gguf, Observed: running, Reason: reason.Available},
		"ServerFileOfClaim":   {Composite: meta + "spec: {" + ref + ", " + server("profile: llama.cpp, model: q8/m.gguf") + "}", Required: plain, Observed: running, Reason: reason.Available},
		"ServerNoFile":        {Composite: meta + "spec: {" + ref + ", " + server("profile: llama.cpp") + "}", Required: plain, Reason: reason.TopologyInvalid, Says: ".gguf"},
		"ServerInline":        {Composite: meta + "spec: {model: {sourceUrl: hf://a/b}, " + server("profile: sglang") + "}", Required: lone, Reason: reason.ModelPending},
		"ServerInlineConvert": {Composite: meta + "spec: {model: {sourceUrl: hf://a/b, conversion: {weightsFloatType: q40}}, " + server("profile: sglang") + "}", Required: lone, Reason: reason.TopologyInvalid, Says: "spec.model.conversion"},
		"ServerInlineMemory":  {Composite: meta + "spec: {model: {sourceUrl: hf://a/b, conversion: {memory: 1Gi}}, " + server("profile: sglang") + "}", Required: lone, Reason: reason.TopologyInvalid, Says: "spec.model.conversion"},
		"ServerInlineThreads": {Composite: meta + "spec: {model: {sourceUrl: hf://a/b}, " + threads + "}", Required: lone, Reason: reason.TopologyInvalid, Says: "spec.engine.threads: vllm"},
		"ServerInlineRefused": {
			Composite: meta + "spec: {model: {sourceUrl: hf://a/b, conversion: {weightsFloatType: q40}}, " + threads + "}", Required: lone,
			Observed: map[string]string{"model": "metadata: {name: d}\nspec: {sourceUrl: hf://a/b, conversion: {type: None}}\nstatus: {conditions: [{type: Serving, status: 'True', reason: Available}], artifact: {" + source + "}}"},
			Reason:   reason.TopologyInvalid, Says: "spec.engine.threads: vllm",
		},
		"ServerNothing":      {Composite: meta + "spec: {" + threads + "}", Required: lone, Reason: reason.TopologyInvalid, Says: "spec.engine.threads: vllm"},
		"ServerContext":      {Composite: meta + "spec: {" + ref + ", rootImage: i, " + strings.Replace(server("port: 8000"), "type:", "maxSeqLen: 64, type:", 1) + "}", Required: plain, Reason: reason.TopologyInvalid, Says: "spec.engine.maxSeqLen: generic"},
		"ServerExternalLong": {Composite: meta + "spec: {" + ref + ", " + server(url) + "}", Required: with(model("launchOptions: [--max-seq-len, '2048']", files)), Observed: running, Reason: reason.Available, Says: "ns/m"},
		"ServerConverted":    {Composite: meta + "spec: {" + ref + ", " + server("profile: vllm") + "}", Required: with(model("", files)), Reason: reason.TopologyInvalid, Says: "spec.conversion.type None"},
		"NotConverted":       {Composite: meta + "spec: {" + ref + "}", Required: plain, Reason: reason.TopologyInvalid, Says: `"m" is not converted`},

		"ServerGeneric": {
			Composite: meta + "spec: {" + ref + ", rootImage: 'example.org/server:1', " + server("command: [/bin/server], args: ['--port=$(KOLDUN_PORT_ENGINE)'], port: 8000, sharedMemory: 2Gi, cache: {sizeLimit: 10Gi}, writable: [/var/run/server], runAsUser: 1000, operations: [embedding], parameters: [seed], servedName: other") + "}",
			Required:  plain, Observed: running, Reason: reason.Available,
		},
		"ServerNoImage":    {Composite: meta + "spec: {" + ref + ", " + server("port: 8000") + "}", Required: plain, Reason: reason.TopologyInvalid, Says: "spec.rootImage"},
		"ServerMissing":    {Composite: meta + "spec: {" + ref + ", engine: {type: openai}}", Required: plain, Reason: reason.TopologyInvalid, Says: "spec.engine.server: the openai engine needs it"},
		"ServerOfOther":    {Composite: meta + "spec: {" + ref + ", engine: {type: embedded, server: {port: 8000}}}", Required: plain, Reason: reason.TopologyInvalid, Says: "spec.engine.server: the embedded engine is no server"},
		"ServerThreads":    {Composite: meta + "spec: {" + ref + ", " + threads + "}", Required: plain, Reason: reason.TopologyInvalid, Says: "spec.engine.threads: vllm"},
		"ServerMemoryPlan": {Composite: meta + "spec: {" + ref + ", rootMemory: {overheadMaxRatio: 2}, " + server("profile: vllm") + "}", Required: plain, Reason: reason.TopologyInvalid, Says: "spec.rootMemory"},

		"ServerGroup":         {Composite: meta + "spec: {nodes: 3, " + ref + ", " + gpus + ", " + server("profile: vllm") + "}", Required: plain, Observed: map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready, "root": composetest.OnePod, "workers": "status: {readyReplicas: 2}"}, Reason: reason.Available, Says: "3 nodes"},
		"ServerGroupUneven":   {Composite: meta + "spec: {nodes: 2, " + ref + ", rootResources: {limits: {nvidia.com/gpu: 2}}, " + server("profile: sglang") + "}", Required: plain, Reason: reason.TopologyInvalid, Says: "spec.workerResources"},
		"ServerGroupOfOllama": {Composite: meta + "spec: {replicaPower: 1, " + server("profile: ollama, source: download, model: m") + "}", Required: lone, Reason: reason.TopologyInvalid, Says: "spec.replicaPower: the openai engine runs on 1 node, not on 2: use 0, or a server of profile vllm or sglang"},
	})
}

func TestUnknownEngineIsRefused(t *testing.T) {
	rsp := composetest.Run(t, dllama.Compose, composetest.Case{Composite: meta + "spec: {engine: {type: none}, " + ref + "}", Required: with(model("", files))})
	if c := rsp.GetConditions()[0]; c.GetReason() != string(reason.TopologyInvalid) || !strings.Contains(c.GetMessage(), `spec.engine.type: engine "none" is not one of `) {
		t.Errorf("the condition is %v", c)
	}
}

// TestBudgetIsKept lets a worker of a complete group go: the budget stays.
func TestBudgetIsKept(t *testing.T) {
	c := composetest.Case{Composite: meta + "spec: {nodes: 2, rootImage: i, " + ref + "}", Required: with(model("", files))}
	c.Observed = map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready, "root": composetest.OnePod, "workers": "status: {readyReplicas: 1}"}
	budget := composetest.Run(t, dllama.Compose, c).GetDesired().GetResources()["budget"]
	if budget == nil {
		t.Fatal("a complete group has no budget")
	}
	group := budget.GetResource().AsMap()["metadata"].(map[string]any)["annotations"].(map[string]any)["koldun.gorizond.io/group"].(string)
	c.Observed["workers"] = "{}"
	for observed, want := range map[string]bool{"metadata: {annotations: {koldun.gorizond.io/group: " + group + "}}": true, "metadata: {annotations: {koldun.gorizond.io/group: x}}": false, "{}": false} {
		c.Observed["budget"] = observed
		if kept := composetest.Run(t, dllama.Compose, c).GetDesired().GetResources()["budget"] != nil; kept != want {
			t.Errorf("with budget %s it is kept: %v, want %v", observed, kept, want)
		}
	}
}

// TestNetTurbo polls sockets only on CPUs that no other process shares.
func TestNetTurbo(t *testing.T) {
	for resources, want := range map[string]string{
		"":                                    "0",
		"rootResources: {limits: {cpu: 2}}, ": "1",
		"rootResources: {limits: {cpu: 2}, requests: {cpu: 2}}, ":                               "1",
		"rootResources: {limits: {cpu: 2}, requests: {cpu: 1}}, ":                               "0",
		"rootResources: {limits: {cpu: 2500m}}, ":                                               "0",
		"rootResources: {requests: {cpu: 2}}, ":                                                 "0",
		"nodes: 2, rootResources: {limits: {cpu: 2}}, ":                                         "0",
		"nodes: 2, rootResources: {limits: {cpu: 2}}, workerResources: {limits: {cpu: 1}}, ":    "1",
		"nodes: 2, rootResources: {limits: {cpu: 2}}, workerResources: {limits: {cpu: 100m}}, ": "0",
		"engine: {netTurbo: true}, ":                                                            "1",
		"engine: {netTurbo: false}, rootResources: {limits: {cpu: 2}}, ":                        "0",
	} {
		rsp := composetest.Run(t, dllama.Compose, composetest.Case{
			Composite: meta + "spec: {rootImage: i, " + resources + ref + "}", Required: with(model("", files)),
			Observed: map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready},
		})
		root, _ := rsp.GetDesired().GetResources()["root"].GetResource().MarshalJSON()
		if !strings.Contains(string(root), `"--net-turbo","`+want+`"`) && !strings.Contains(string(root), `"--net-turbo", "`+want+`"`) {
			t.Errorf("with %q net-turbo is not %s", resources, want)
		}
	}
}

// TestGPUs counts whole GPUs, of any vendor.
func TestGPUs(t *testing.T) {
	for limits, want := range map[string]string{
		"nvidia.com/gpu: 4":     "4",
		"amd.com/gpu: 2":        "2",
		"gpu.intel.com/i915: 2": "2",
		"gpu.intel.com/xe: 3":   "3",
		"gpu.intel.com/i915: 1, gpu.intel.com/millicores: 500, gpu.intel.com/memory.max: 8Gi": "",
		"memory: 8Gi, cpu: 4": "",
	} {
		rsp := composetest.Run(t, dllama.Compose, composetest.Case{
			Composite: meta + "spec: {rootResources: {limits: {" + limits + "}}, " + ref + ", " + server("profile: vllm") + "}", Required: with(model("", source)),
			Observed: map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready},
		})
		root, _ := rsp.GetDesired().GetResources()["root"].GetResource().MarshalJSON()
		_, after, _ := strings.Cut(string(root), "--tensor-parallel-size=")
		if got, _, _ := strings.Cut(after, `"`); len(root) < 100 || got != want {
			t.Errorf("with limits {%s} the server spreads over %q GPUs, want %q", limits, got, want)
		}
	}
}

// TestNamesakesHaveGroups serves one name from a Dllama and a Session of one name.
func TestNamesakesHaveGroups(t *testing.T) {
	group := func(labels string) string {
		rsp := composetest.Run(t, dllama.Compose, composetest.Case{
			Composite: strings.Replace(meta, "generation: 3", "labels: {"+labels+"}", 1) + "spec: {" + ref + "}", Required: with(model("", files)),
			Observed: map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready},
		})
		root, _ := rsp.GetDesired().GetResources()["root"].GetResource().MarshalJSON()
		_, after, _ := strings.Cut(string(root), `"--group=`)
		name, _, _ := strings.Cut(after, `"`)
		return name
	}
	if own, pool := group(""), group("koldun.gorizond.io/session: d"); own != "d" || pool != names.SessionGroup("d") || own == pool {
		t.Errorf("the groups are %q and %q", own, pool)
	}
}

// TestNamesakesHavePools scales a Dllama and a Session of one name.
func TestNamesakesHavePools(t *testing.T) {
	poolOf := func(kind func(*compose.Call) error, c composetest.Case) (name, owner, label string) {
		var p v1alpha1.Pool
		fields := composetest.Run(t, kind, c).GetDesired().GetResources()["pool"].GetResource().AsMap()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &p); err != nil {
			t.Fatal(err)
		}
		return p.Name, p.Spec.ForProvider.Owner, p.Spec.ForProvider.Dllama.Labels["koldun.gorizond.io/session"]
	}
	name, owner, label := poolOf(dllama.Compose, composetest.Case{
		Composite: meta + "spec: {" + ref + ", expose: {scaling: {}}}", Required: with(model("", files)),
		Observed: map[string]string{"ingress": "status: {backendServiceName: s}"},
	})
	name2, owner2, label2 := poolOf(session.Compose, composetest.Case{
		Composite: strings.Replace(meta, "Dllama", "Session", 1) + "spec: {" + ref + "}", Required: map[string][]string{"ingresses": {}},
	})
	if name == name2 || owner == owner2 || label == label2 || name2 != "d-pool" || owner2 != "ns/d" {
		t.Errorf("the pools are %q of %q (%q) and %q of %q (%q)", name, owner, label, name2, owner2, label2)
	}
}

// TestConversionForServers holds that a claim may say of the conversion only what is
// true of a server, which loads the source files.
func TestConversionForServers(t *testing.T) {
	for conversion, why := range map[string]reason.Reason{
		"":                         reason.ModelPending,
		"type: None":               reason.ModelPending,
		"type: DistributedLlama":   reason.TopologyInvalid,
		"convertWeights: q40":      reason.TopologyInvalid,
		"outputPath: 's3://b/out'": reason.TopologyInvalid,
	} {
		t.Run(conversion, func(t *testing.T) {
			rsp := composetest.Run(t, dllama.Compose, composetest.Case{
				Composite: meta + "spec: {model: {sourceUrl: hf://a/b, conversion: {" + conversion + "}}, " + server("profile: sglang") + "}",
				Required:  map[string][]string{"ingresses": {}, "namesake": {}},
			})
			if got := rsp.GetConditions()[0].GetReason(); got != string(why) {
				t.Errorf("the reason is %q, want %q", got, why)
			}
		})
	}
}

// TestStrangersPoolIsNotJoined attacks: the annotation with the key of another
// pool is ignored, and a Model of another namespace makes a pool of this one.
func TestStrangersPoolIsNotJoined(t *testing.T) {
	own := names.Session("ns", "m", "")
	for key, want := range map[string]string{
		"victim_m": own, "victim_m_0123456789abcdef": own, "ns_other": own, "ns_m_x": own, "ns_m_0123456789abcdeg": own,
		"ns_m_0123456789abcdef": "ns_m_0123456789abcdef", own: own,
	} {
		for _, namespace := range []string{"ns", "victim"} {
			rsp := composetest.Run(t, dllama.Compose, composetest.Case{
				Composite: strings.Replace(meta, "generation: 3", "annotations: {koldun.gorizond.io/session-key: '"+key+"'}", 1) + "spec: {modelRef: {name: m, namespace: " + namespace + "}}",
				Required:  with(model("", files)), Observed: map[string]string{"bucket": composetest.Ready, "runners": composetest.Ready, "record": composetest.Ready},
			})
			if text := rsp.GetDesired().GetResources()["root"].String(); !strings.Contains(text, `"--session=`+want+`"`) || !strings.Contains(text, `"--model=ns/m"`) {
				t.Errorf("key %q, namespace %q: the sidecar does not serve %q for ns/m", key, namespace, want)
			}
		}
	}
}

func TestDllamaWithoutNamespaceIsRefused(t *testing.T) {
	composetest.Refuses(t, dllama.Compose, "apiVersion: koldun.gorizond.io/v1\nkind: Dllama\nmetadata: {name: d}\nspec: {}")
}

// told is a WorkloadStatus with the progress of a pod.
func told(pod, progress string) string {
	return "status: {atProvider: {progress: [{pod: " + pod + ", " + progress + "}]}}"
}

// and adds an object to what is observed.
func and(observed map[string]string, key, object string) map[string]string {
	out := maps.Clone(observed)
	out[key] = object
	return out
}

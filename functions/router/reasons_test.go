package router_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/router"
)

// state is what a case observes: objects by the names of composed resources,
// without the hashes at their ends.
type state map[string]string

const (
	commit = "0123456789012345678901234567890123456789"
	looked = "status: {conditions: [{type: Synced, status: 'True'}]}" // for files, in vain
	// notAllowed is how the provider refuses a ClusterProviderConfig.
	notAllowed = "status: {conditions: [{type: Synced, status: 'False', message: may not use it}, {type: Ready, status: 'False', reason: NamespaceNotAllowed, message: may not use it}]}"
	ready      = "status: {conditions: [{type: Ready, status: 'True'}]}"

	model   = "apiVersion: koldun.gorizond.io/v1\nkind: Model\nmetadata: {name: m, namespace: ns}\n"
	dllama  = "apiVersion: koldun.gorizond.io/v1\nkind: Dllama\nmetadata: {name: d, namespace: ns}\n"
	session = "apiVersion: koldun.gorizond.io/v1\nkind: Session\nmetadata: {name: s, namespace: ns}\n"
	root    = "apiVersion: koldun.gorizond.io/v1\nkind: Root\nmetadata: {name: r, namespace: ns}\n"
	worker  = "apiVersion: koldun.gorizond.io/v1\nkind: Worker\nmetadata: {name: w, namespace: ns}\n"

	labeler = "apiVersion: koldun.gorizond.io/v1\nkind: AutoNodeLabeler\nmetadata: {name: l}\nspec: {labels: {a: b}}"

	orchestra = "apiVersion: koldun.gorizond.io/v1\nkind: ModelOrchestra\nmetadata: {name: o, namespace: ns}\n"

	ingress0 = "apiVersion: koldun.gorizond.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: ns}\n"
	ingress  = ingress0 + "spec: {}\n"

	download  = "apiVersion: koldun.gorizond.io/v1\nkind: ModelDownload\nmetadata: {name: d, namespace: ns}\nspec: {storagePVC: files, hfTokenRef: {name: hf, key: token}, models: [{name: org/tiny}]}"
	stored    = "spec: {preConverted: true, preConvertedPVCName: claim}\n"
	volume    = "spec: {sourceUrl: hf://org/tiny, pv: {}}\n"
	tiny      = "spec: {sourceUrl: hf://org/tiny}\n"
	artifact  = "artifact: {url: s3://koldun-models/converted/x, bucket: koldun-models, modelFile: a.m, tokenizerFile: a.t, weights: q40, sizeBytes: 1, size: 1 B}"
	goodModel = "{apiVersion: koldun.gorizond.io/v1, kind: Model, metadata: {name: m, namespace: ns}, status: {" + artifact + ", conditions: [{type: Serving, status: 'True', reason: Available}]}}"
)

func aideployment(spec string) string {
	return "apiVersion: koldun.gorizond.io/v1\nkind: AIDeployment\nmetadata: {name: d, namespace: ns}\nspec: {" + spec + "}\n"
}

// modelWith is a Model whose connections are there and whose revision is known.
func modelWith(more state) state {
	out := state{"queue": ready, "bucket": ready, "revision": "status: {atProvider: {commit: '" + commit + "'}}", "source": looked, "converted": looked}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// podsSay is a WorkloadStatus that has found a problem.
func podsSay(why reason.Reason) state {
	return state{"pods": "status: {atProvider: {reason: " + string(why) + ", message: mend it}}"}
}

// join is a state with the objects of both.
func join(a, b state) state {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// poolOf is a Pool of one member that says so.
func poolOf(standing string) string {
	return "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {members: [{name: '0', phase: Active, " + standing + "}]}}"
}

// queue is an Ingress whose streams and buckets are there.
func queue(more state) state {
	out := state{"queue": ready}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func TestEveryReasonIsProduced(t *testing.T) {
	source, converted := "s3://koldun-models/source/org/tiny/"+commit, "s3://koldun-models/converted/org/tiny/"+commit+"/q40"
	whole := func(url string) string {
		return "spec: {forProvider: {url: " + url + "}}\nstatus: {atProvider: {whole: true, weights: q40}, conditions: [{type: Ready, status: 'True'}]}"
	}
	const gaveUp = "status: {conditions: [{type: Failed, status: 'True', message: disk full}]}"
	exited := func(code int) string {
		return fmt.Sprintf("status: {conditions: [{type: Failed, status: 'True', reason: PodFailurePolicy, message: 'Container fetch for pod ns/p failed with exit code %d matching FailJob rule at index 0'}]}", code)
	}
	dependent := "spec: {modelRef: {name: m}}\n"
	refs := map[string]string{"model": goodModel}
	planned := map[string]string{"model": strings.Replace(goodModel, "size: 1 B", "size: 1 B, shape: {arch: llama, dim: 256, hiddenDim: 512, layers: 2, heads: 8, kvHeads: 8, headDim: 32, vocabSize: 512, seqLen: 8192, weights: q40}", 1)}
	connected := state{"bucket": ready, "runners": ready}

	cases := map[string]struct {
		xr        string
		observed  state
		required  map[string]string // by key; "" means that nothing was found
		condition string
		status    string
		reason    reason.Reason
		says      string // part of the message
	}{
		"SourceInvalid":       {model + "spec: {sourceUrl: ftp://x/y}", nil, nil, "Serving", "False", reason.SourceInvalid, "spec.sourceUrl"},
		"SourceIsNoHub":       {model + "spec: {sourceUrl: s3://bucket/x}", nil, nil, "Serving", "False", reason.SourceInvalid, "not a hub's repository"},
		"ConnectionPending":   {model + tiny, nil, nil, "Serving", "False", reason.ConnectionPending, "being prepared"},
		"ConnectionMessage":   {model + tiny, state{"queue": "status: {conditions: [{type: Synced, status: 'False', message: no route to host}]}"}, nil, "Serving", "False", reason.ConnectionPending, "no route to host"},
		"NamespaceNotAllowed": {model + tiny, state{"queue": notAllowed}, nil, "Serving", "False", reason.NamespaceNotAllowed, "may not use"},
		"NotAllowed":          {ingress0 + "spec: {backend: {image: evil/x}}\n", nil, map[string]string{"platform": ""}, "Serving", "False", reason.NotAllowed, "koldun-platform"},
		"NotAllowedBelow":     {dllama + dependent, nil, map[string]string{"model": "{apiVersion: koldun.gorizond.io/v1, kind: Model, metadata: {name: m, namespace: ns}, status: {conditions: [{type: Serving, status: 'False', reason: NamespaceNotAllowed, message: may not use it}]}}"}, "Serving", "False", reason.ModelFailed, "NamespaceNotAllowed: may not use it"},
		"ResolvingRevision":   {model + tiny, modelWith(state{"revision": "{}"}), nil, "Serving", "False", reason.ResolvingRevision, "hf://org/tiny"},
		"RevisionUnavailable": {model + tiny, modelWith(state{"revision": "status: {atProvider: {refusal: the repository is gated}}"}), nil, "Serving", "False", reason.RevisionUnavailable, "is gated"},
		"ModelUnsupported":    {model + tiny, modelWith(state{"revision": "status: {atProvider: {commit: '" + commit + "', config: '{\"model_type\":\"gpt2\"}'}}"}), nil, "Serving", "False", reason.ModelUnsupported, "gpt2"},
		"NotLookedYet":        {model + tiny, modelWith(state{"source": "{}"}), nil, "Serving", "False", reason.ConnectionPending, "is searched"},
		"Downloading":         {model + tiny, modelWith(nil), nil, "Downloaded", "False", reason.Downloading, "runs"},
		"WaitingForDownload":  {model + tiny, modelWith(nil), nil, "Converted", "False", reason.WaitingForDownload, ""},
		"DownloadFailed":      {model + tiny, modelWith(state{"fetch": gaveUp}), nil, "Serving", "False", reason.DownloadFailed, "disk full"},
		"Downloaded":          {model + tiny, modelWith(state{"source": whole(source)}), nil, "Downloaded", "True", reason.Downloaded, source},
		"Converting":          {model + tiny, modelWith(state{"source": whole(source)}), nil, "Converted", "False", reason.Converting, "runs"},
		"ConversionFailed":    {model + tiny, modelWith(state{"source": whole(source), "convert": gaveUp}), nil, "Converted", "False", reason.ConversionFailed, "disk full"},
		"Converted":           {model + tiny, modelWith(state{"converted": whole(converted)}), nil, "Converted", "True", reason.Converted, converted},
		"ConversionNotWanted": {model + "spec: {sourceUrl: hf://org/tiny, conversion: {type: None}}", modelWith(nil), nil, "Converted", "False", reason.ConversionNotWanted, "None"},
		"DownloadNotNeeded":   {model + tiny, modelWith(state{"converted": whole(converted)}), nil, "Downloaded", "True", reason.DownloadNotNeeded, ""},
		"Registering":         {model + tiny, modelWith(state{"converted": whole(converted)}), nil, "Serving", "False", reason.Registering, ""},
		"ModelAvailable":      {model + tiny, modelWith(state{"converted": whole(converted), "record": ready}), nil, "Serving", "True", reason.Available, ""},

		"ModelNotFound": {dllama + dependent, nil, map[string]string{"model": ""}, "Serving", "False", reason.ModelNotFound, `"m"`},
		"GatewayNotFound": {
			dllama + "spec: {modelRef: {name: m, namespace: other}, ingressRef: {name: i}}\n", nil,
			map[string]string{"model": "metadata: {name: m, namespace: other}\nspec: {allowedNamespaces: [ns]}", "other-ingress": ""}, "Serving", "False", reason.GatewayNotFound, "spec.ingressRef",
		},
		"ModelPending":      {dllama + dependent, nil, nil, "Serving", "False", reason.ModelPending, ""},
		"ModelFailed":       {dllama + dependent, nil, map[string]string{"model": "status: {conditions: [{type: Serving, status: 'False', reason: DownloadFailed, message: no space}]}"}, "Serving", "False", reason.ModelFailed, "no space"},
		"TopologyInvalid":   {dllama + "spec: {engine: {type: embedded}, replicaPower: 1, modelRef: {name: m}}\n", nil, refs, "Serving", "False", reason.TopologyInvalid, "spec.replicaPower"},
		"ContextTooLong":    {dllama + "spec: {engine: {maxSeqLen: 64}, modelRef: {name: m}}\n", nil, map[string]string{"model": strings.Replace(goodModel, "size: 1 B", "size: 1 B, shape: {arch: llama, dim: 32, hiddenDim: 32, layers: 1, heads: 1, kvHeads: 1, headDim: 32, vocabSize: 32, seqLen: 32, weights: q40}", 1)}, "Serving", "False", reason.TopologyInvalid, "context of 64"},
		"DllamaConnections": {dllama + dependent, nil, refs, "Serving", "False", reason.ConnectionPending, "being prepared"},
		"RootStarting":      {dllama + dependent, connected, refs, "Serving", "False", reason.RootStarting, "a.m"},
		"DllamaAvailable":   {dllama + dependent, state{"bucket": ready, "runners": ready, "root": "status: {readyReplicas: 1}"}, refs, "Serving", "True", reason.Available, "ns/m is served on 1 node"},
		"DllamaPods":        {dllama + "spec: {modelRef: {name: m}}\n", join(connected, podsSay("Unschedulable")), refs, "Serving", "False", reason.Unschedulable, "mend it"},
		"DllamaWorkerPods":  {dllama + "spec: {rootImage: dllama, replicaPower: 1, modelRef: {name: m}}\n", join(connected, podsSay("PodEvicted")), refs, "Serving", "False", reason.PodEvicted, "mend it"},
		"DllamaServes":      {dllama + "spec: {modelRef: {name: m}}\n", join(connected, join(podsSay("ImagePullFailed"), state{"root": "status: {readyReplicas: 1}"})), refs, "Serving", "True", reason.Available, "served"},
		"DllamaIngressPods": {dllama + "spec: {expose: {}, modelRef: {name: m}}\n", state{"bucket": ready, "root": "status: {readyReplicas: 1}", "ingress": "status: {backendServiceName: s, conditions: [{type: Serving, status: 'False', reason: QuotaExceeded, message: no room}]}"}, refs, "Serving", "False", reason.QuotaExceeded, `Ingress "d" is not ready: no room`},
		"DllamaModelPods":   {dllama + "spec: {modelRef: {name: m}}\n", nil, map[string]string{"model": "{apiVersion: koldun.gorizond.io/v1, kind: Model, metadata: {name: m, namespace: ns}, status: {conditions: [{type: Serving, status: 'False', reason: ConfigMissing, message: no Secret}]}}"}, "Serving", "False", reason.ConfigMissing, `Model "m" is not ready: no Secret`},
		"IngressPods":       {ingress, queue(podsSay("ImagePullFailed")), nil, "Serving", "False", reason.ImagePullFailed, "mend it"},
		"RootPods":          {root + "spec: {modelRef: claim, image: dllama, workers: ['10.0.0.1:9999']}", podsSay("ProgramMissing"), nil, "Serving", "False", reason.ProgramMissing, "mend it"},
		"RootNode":          {root + "spec: {modelRef: claim, image: dllama, workers: ['10.0.0.1:9999']}", podsSay("NodeOutOfMemory"), nil, "Serving", "False", reason.NodeOutOfMemory, "mend it"},
		"WorkerPods":        {worker + "spec: {image: dllama, replicas: 2}", podsSay("VolumeUnavailable"), nil, "Serving", "False", reason.VolumeUnavailable, "mend it"},
		"WorkerPodsNotMade": {worker + "spec: {image: dllama, replicas: 2}", podsSay("PodCreationFailed"), nil, "Serving", "False", reason.PodCreationFailed, "mend it"},
		"SessionPods":       {session + "spec: {modelRef: {name: m}}", queue(join(podsSay("CrashLooping"), state{"dispatcher": "{}", "pool": poolOf("ready: true")})), map[string]string{"ingresses": ""}, "Serving", "False", reason.CrashLooping, "mend it"},
		"SessionMemberPods": {session + "spec: {modelRef: {name: m}}", state{"pool": poolOf("reason: ContainerNotStarted, message: mend it")}, nil, "Serving", "False", reason.ContainerNotStarted, "ContainerNotStarted: mend it"},
		"ModelPods":         {model + tiny, modelWith(podsSay("ContainerNotStarted")), nil, "Serving", "False", reason.ContainerNotStarted, "mend it"},
		"ModelMemory":       {model + tiny, modelWith(join(podsSay("OutOfMemory"), state{"fetch": gaveUp})), nil, "Serving", "False", reason.OutOfMemory, `gave up: mend it`},
		"ModelVolumePods":   {model + volume, modelWith(join(podsSay("ConfigMissing"), state{"converted": whole(converted)})), nil, "Serving", "False", reason.ConfigMissing, "mend it"},
		"ModelPodsRefused":  {model + tiny, modelWith(podsSay("PodRefused")), nil, "Serving", "False", reason.PodRefused, "mend it"},
		"ModelImage":        {model + tiny, modelWith(podsSay("ImageUnavailable")), nil, "Serving", "False", reason.ImageUnavailable, "mend it"},
		"DllamaGateway":     {dllama + "spec: {expose: {}, modelRef: {name: m}}\n", state{"bucket": ready, "runners": ready, "root": "status: {readyReplicas: 1}"}, refs, "Serving", "False", reason.GatewayStarting, "Ingress"},

		"ConnectionInvalid":   {ingress0 + "spec: {backend: {nats: {url: 'http://h:1'}}}", nil, nil, "Serving", "False", reason.ConnectionInvalid, "spec.backend.nats.url"},
		"SecretElsewhere":     {model + "spec: {sourceUrl: hf://org/tiny, objectStorage: {endpoint: http://h, secretRef: {name: s, namespace: other}}}", nil, nil, "Serving", "False", reason.ConnectionInvalid, "spec.objectStorage.secretRef"},
		"FieldsIgnored":       {model + "spec: {sourceUrl: hf://org/tiny, pipProxy: x}", nil, nil, "LegacyFields", "True", reason.FieldsIgnored, "spec.pipProxy"},
		"FieldsUsed":          {model + tiny + "status: {conditions: [{type: LegacyFields, status: 'True'}]}", nil, nil, "LegacyFields", "False", reason.FieldsUsed, ""},
		"PreConverted":        {model + stored, nil, nil, "Converted", "True", reason.PreConverted, `"claim"`},
		"PreConvertedReady":   {model + stored, state{"queue": ready, "record": ready}, nil, "Serving", "True", reason.Available, "claim"},
		"Inspecting":          {model + stored, state{"queue": ready}, nil, "Serving", "False", reason.Inspecting, `"claim"`},
		"InspectionFailed":    {model + stored, state{"queue": ready, "inspect": gaveUp}, nil, "Serving", "False", reason.InspectionFailed, "disk full"},
		"SizeUnknown":         {model + stored, nil, nil, "Sized", "False", reason.SizeUnknown, "spec.preConvertedSizeBytes"},
		"SizeKnown":           {model + tiny, modelWith(state{"converted": whole(converted)}), nil, "Sized", "True", reason.SizeKnown, ""},
		"Verifying":           {strings.Replace(model, "namespace: ns", "namespace: ns, annotations: {koldun.gorizond.io/force-size-rerun: '1'}", 1) + tiny, modelWith(state{"converted": whole(converted)}), nil, "Sized", "False", reason.Verifying, "force-size-rerun"},
		"FillingVolume":       {model + volume, modelWith(state{"converted": whole(converted)}), nil, "Serving", "False", reason.FillingVolume, "m-files"},
		"VolumeTooSmall":      {model + "spec: {sourceUrl: 'hf://org/tiny', pv: {capacity: 1}}", modelWith(state{"converted": "status: {atProvider: {whole: true, weights: q40, modelFile: a.m, tokenizerFile: a.t, sizeBytes: 7}, conditions: [{type: Ready, status: 'True'}]}"}), nil, "Serving", "False", reason.VolumeTooSmall, "spec.pv.capacity"},
		"ArgumentRefused":     {root + "spec: {modelRef: claim, image: dllama, workers: ['10.0.0.1:9999']}", podsSay("ArgumentRefused"), nil, "Serving", "False", reason.ArgumentRefused, "mend it"},
		"VolumeFailed":        {model + volume, modelWith(state{"converted": whole(converted), "fill": gaveUp}), nil, "Serving", "False", reason.VolumeFailed, "disk full"},
		"InputRefused":        {model + tiny, modelWith(state{"fetch": exited(10)}), nil, "Serving", "False", reason.InputRefused, "exit code 10"},
		"CredentialsRefused":  {model + tiny, modelWith(state{"fetch": exited(11)}), nil, "Serving", "False", reason.CredentialsRefused, ""},
		"SourceNotFound":      {model + tiny, modelWith(state{"fetch": exited(12)}), nil, "Serving", "False", reason.SourceNotFound, ""},
		"StorageFull":         {model + tiny, modelWith(state{"fetch": exited(13)}), nil, "Serving", "False", reason.StorageFull, ""},
		"DataCorrupt":         {model + tiny, modelWith(state{"fetch": exited(14)}), nil, "Serving", "False", reason.DataCorrupt, ""},
		"StorageConflict":     {model + tiny, modelWith(state{"fetch": exited(15)}), nil, "Serving", "False", reason.StorageConflict, ""},
		"DeliveryImpossible":  {dllama + "spec: {delivery: pvc, modelRef: {name: m}}\n", nil, refs, "Serving", "False", reason.DeliveryImpossible, "spec.pv"},
		"WorkersStarting":     {dllama + "spec: {rootImage: dllama, replicaPower: 1, modelRef: {name: m}}\n", connected, refs, "Serving", "False", reason.WorkersStarting, "d-workers"},
		"GroupAvailable":      {dllama + "spec: {rootImage: dllama, replicaPower: 1, modelRef: {name: m}}\n", state{"bucket": ready, "runners": ready, "root": "status: {readyReplicas: 1}", "workers": "status: {readyReplicas: 1}"}, refs, "Serving", "True", reason.Available, "2 nodes"},
		"RequestTooSmall":     {dllama + "spec: {rootImage: i, rootResources: {requests: {memory: 1Mi}}, modelRef: {name: m}}\n", nil, planned, "Requested", "False", reason.RequestTooSmall, "requests.memory of spec.rootResources is 1Mi, and the root allocates"},
		"RequestSufficient":   {dllama + "spec: {rootImage: i, modelRef: {name: m}}\nstatus: {conditions: [{type: Requested, status: 'False'}]}\n", nil, planned, "Requested", "True", reason.RequestSufficient, "memory"},
		"BuffersWrong":        {dllama + "spec: {engine: {bufferFloatType: f32}, modelRef: {name: m}}\n", nil, refs, "Serving", "False", reason.TopologyInvalid, "spec.engine.bufferFloatType"},
		"WorkersNotFound":     {root + "spec: {modelRef: claim, image: dllama, workerSelector: {a: b}}", nil, nil, "Serving", "False", reason.WorkersNotFound, "spec.workerSelector"},
		"RootAloneStarting":   {root + "spec: {modelRef: claim, image: dllama, workers: ['10.0.0.1:9999']}", nil, nil, "Serving", "False", reason.RootStarting, "r-alone"},
		"RootAloneAvailable":  {root + "spec: {modelRef: claim, image: dllama, workers: ['10.0.0.1:9999']}", state{"root": "status: {readyReplicas: 1}"}, nil, "Serving", "True", reason.Available, "2 nodes"},
		"WorkerStarting":      {worker + "spec: {image: dllama, replicas: 2}", nil, nil, "Serving", "False", reason.WorkersStarting, "w-worker"},
		"WorkerAvailable":     {worker + "spec: {image: dllama, replicas: 2}", state{"workers": "status: {readyReplicas: 2}"}, nil, "Serving", "True", reason.Available, "2 workers"},
		"SessionLeader":       {session + "spec: {modelRef: {name: m}}", queue(state{"dispatcher": "{}", "pool": poolOf("ready: true")}), map[string]string{"ingresses": ""}, "Serving", "False", reason.GatewayStarting, "s-leader"},
		"SessionDllamaFailed": {session + "spec: {modelRef: {name: m}}", state{"pool": poolOf("reason: TopologyInvalid, message: 3 does not divide")}, nil, "Serving", "False", reason.TopologyInvalid, "3 does not divide"},

		"Labelling":      {labeler, nil, nil, "Serving", "False", reason.Labelling, "l-nodes"},
		"RuleFailed":     {labeler, state{"rule": "status: {conditions: [{type: Synced, status: 'False', message: forbidden}]}"}, nil, "Serving", "False", reason.RuleFailed, "forbidden"},
		"Labelled":       {labeler, state{"rule": ready}, nil, "Serving", "True", reason.Available, "matching nodes"},
		"LabelsConflict": {labeler, state{"rule": "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {matched: 1, conflicts: [n]}}"}, nil, "Serving", "True", reason.LabelsConflict, "status.conflicts"},

		"ApplicationsStarting": {orchestra + "spec: {applications: {a: {}}}", state{"deployment-gateway": "status: {readyReplicas: 1}"}, nil, "Serving", "False", reason.ApplicationsStarting, "no ready replica"},
		"ApplicationInvalid":   {orchestra + "spec: {backend: Koldun, applications: {a: {}}}", nil, nil, "Serving", "False", reason.ApplicationInvalid, "readerConfig.modelName"},
		"OrchestraAvailable":   {orchestra + "spec: {}", state{"deployment-gateway": "status: {readyReplicas: 1}"}, nil, "Serving", "True", reason.Available, "served at"},

		"ServesInvalid":    {root + "spec: {modelRef: claim, serves: other/m}", nil, nil, "Serving", "False", reason.ServesInvalid, `namespace "other"`},
		"KeyInvalid":       {session + "spec: {modelRef: {name: m}, key: other_model}", nil, nil, "Serving", "False", reason.KeyInvalid, "spec.key"},
		"PoolStarting":     {session + "spec: {modelRef: {name: m}, scaling: {minDllamas: 1}}", nil, nil, "Serving", "False", reason.ConnectionPending, "being prepared"},
		"PoolRefused":      {session + "spec: {modelRef: {name: m}}", state{"pool": "status: {conditions: [{type: Ready, status: 'False', message: no rights}]}"}, nil, "Serving", "False", reason.ConnectionPending, "no rights"},
		"DllamasStarting":  {session + "spec: {modelRef: {name: m}, scaling: {minDllamas: 1}}", state{"pool": poolOf("reason: RootStarting")}, nil, "Serving", "False", reason.DllamasStarting, `"s-0"`},
		"Idle":             {session + "spec: {modelRef: {name: m}, scaling: {minDllamas: 0}}", state{"pool": ready}, nil, "Serving", "True", reason.Idle, ""},
		"SessionAvailable": {session + "spec: {modelRef: {name: m}, scaling: {minDllamas: 1}}", state{"pool": poolOf("ready: true")}, nil, "Serving", "True", reason.Available, "The pool serves"},

		"ModelMapNotFound":   {aideployment("engine: {name: vllm}, models: [{modelMapRef: {name: m, variant: a}}]"), nil, map[string]string{"map-ns/m": ""}, "Serving", "False", reason.ModelMapNotFound, `"m"`},
		"VariantNotFound":    {aideployment("engine: {name: vllm}, models: [{modelMapRef: {name: m, variant: a}}]"), nil, map[string]string{"map-ns/m": "metadata: {name: m, namespace: ns}"}, "Serving", "False", reason.VariantNotFound, `"a"`},
		"DeploymentInvalid":  {aideployment("engine: {name: vllm}, models: []"), nil, nil, "Serving", "False", reason.DeploymentInvalid, "exactly one"},
		"DeploymentStarting": {aideployment("engine: {name: vllm}, models: [{uri: org/repo}]"), nil, nil, "Serving", "False", reason.DeploymentStarting, "no ready pod"},
		"DeploymentFailed":   {aideployment("engine: {name: vllm}, models: [{uri: org/repo}]"), state{"deployment": "status: {conditions: [{type: Progressing, status: 'False', message: too late}]}"}, nil, "Serving", "False", reason.DeploymentFailed, "too late"},

		"IngressConnections": {ingress, nil, nil, "Serving", "False", reason.ConnectionPending, "being prepared"},
		"GatewayStarting":    {ingress, queue(nil), nil, "Serving", "False", reason.GatewayStarting, "i-gateway"},
		"DispatcherStarting": {ingress, queue(state{"gateway": "status: {readyReplicas: 1}"}), nil, "Serving", "False", reason.GatewayStarting, "i-dispatcher"},
		"DemandRefused":      {ingress, queue(state{"demanded": "status: {conditions: [{type: Ready, status: 'False', message: no rights}]}"}), nil, "Serving", "False", reason.ConnectionPending, "no rights"},
		"RightMissing":       {dllama + dependent, connected, map[string]string{"model": goodModel, "namesake": "", "prerequisites": "data: {absent: [HTTPRoute.gateway.networking.k8s.io], forbidden: [StatefulSet.apps]}"}, "Serving", "False", reason.PrerequisiteMissing, "statefulsets.apps"},
		"RightGiven":         {ingress + "status: {conditions: [{type: Prerequisites, status: 'False'}]}", queue(nil), map[string]string{"prerequisites": "{}"}, "Prerequisites", "True", reason.PrerequisitesMet, "is there"},
		"DownloadPending":    {download, nil, nil, "Serving", "False", reason.DownloadPending, "looked up"},
		"StorageNotFound":    {download, nil, map[string]string{"volume": ""}, "Serving", "False", reason.StorageNotFound, `"files"`},
		"TokenNotFound":      {download, nil, map[string]string{"volume": "{}", "token": ""}, "Serving", "False", reason.TokenNotFound, `"hf"`},
		"IngressAvailable":   {ingress, queue(state{"gateway": "status: {readyReplicas: 1}", "dispatcher": "status: {readyReplicas: 1}"}), nil, "Serving", "True", reason.Available, "http://i-gateway.ns.svc.cluster.local:8082/v1"},
	}
	produced := map[reason.Reason]bool{reason.ConnectionAmbiguous: true} // by TestAmbiguousConnection
	for name, c := range cases {
		produced[c.reason] = true
		t.Run(name, func(t *testing.T) {
			rsp := run(t, c.xr, c.observed, c.required)
			for _, cond := range rsp.GetConditions() {
				if cond.GetType() != c.condition {
					continue
				}
				if got := statusText(cond.GetStatus()); got != c.status || cond.GetReason() != string(c.reason) {
					t.Errorf("%s is %s with reason %s (%s), want %s with %s", c.condition, got, cond.GetReason(), cond.GetMessage(), c.status, c.reason)
				}
				if !strings.Contains(cond.GetMessage(), c.says) {
					t.Errorf("the message is %q, want it to say %q", cond.GetMessage(), c.says)
				}
				return
			}
			t.Errorf("there is no condition %s in %v, results %v", c.condition, rsp.GetConditions(), rsp.GetResults())
		})
	}
	for _, r := range catalogue(t) {
		if !produced[r] {
			t.Errorf("no case produces reason %s", r)
		}
	}
}

// TestAmbiguousConnection needs two objects for one requirement.
func TestAmbiguousConnection(t *testing.T) {
	req := &fnv1.RunFunctionRequest{
		Observed: &fnv1.State{Composite: object(t, dllama+"spec: {modelRef: {name: m}}\n")},
		RequiredResources: map[string]*fnv1.Resources{
			"model": {Items: []*fnv1.Resource{object(t, goodModel)}},
			"ingresses": {Items: []*fnv1.Resource{
				object(t, "metadata: {name: a}\nspec: {backend: {nats: {url: 'nats://a:4222'}}}"),
				object(t, "metadata: {name: b}\nspec: {backend: {nats: {url: 'nats://b:4222'}}}"),
			}},
		},
	}
	rsp, err := router.New(compose.Config{Image: "koldun", Trusted: true}).RunFunction(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if len(rsp.GetConditions()) != 1 || rsp.GetConditions()[0].GetReason() != string(reason.ConnectionAmbiguous) {
		t.Errorf("conditions are %v, want reason %s", rsp.GetConditions(), reason.ConnectionAmbiguous)
	}
}

// hashed is the end of the name of a composed resource that has a hash.
var hashed = regexp.MustCompile("-[0-9a-f]{8}$")

// run composes until all that is observed has the names that the function
// gives it.
func run(t *testing.T, xr string, observed state, required map[string]string) *fnv1.RunFunctionResponse {
	t.Helper()
	req := &fnv1.RunFunctionRequest{
		Observed:          &fnv1.State{Composite: object(t, xr), Resources: map[string]*fnv1.Resource{}},
		RequiredResources: map[string]*fnv1.Resources{},
	}
	for key, manifest := range required {
		if key == "prerequisites" { // Crossplane looks for them
			req.Meta = &fnv1.RequestMeta{Capabilities: []fnv1.Capability{fnv1.Capability_CAPABILITY_CAPABILITIES, fnv1.Capability_CAPABILITY_REQUIRED_RESOURCES}}
		}
		req.RequiredResources[key] = &fnv1.Resources{}
		if manifest != "" {
			req.RequiredResources[key].Items = []*fnv1.Resource{object(t, manifest)}
		}
	}
	for name, manifest := range observed {
		req.Observed.Resources[name] = object(t, manifest)
	}
	_, rules := required["platform"]
	for {
		rsp, err := router.New(compose.Config{Image: "koldun", Trusted: !rules}).RunFunction(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		more := false
		for name := range rsp.GetDesired().GetResources() {
			plain := hashed.ReplaceAllString(name, "")
			if o, ok := req.Observed.Resources[plain]; ok && plain != name {
				delete(req.Observed.Resources, plain)
				req.Observed.Resources[name], more = o, true
			}
		}
		if !more {
			return rsp
		}
	}
}

func object(t *testing.T, manifest string) *fnv1.Resource {
	t.Helper()
	var fields map[string]any
	if err := yaml.Unmarshal([]byte(manifest), &fields); err != nil {
		t.Fatalf("cannot read %q: %v", manifest, err)
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	s := &structpb.Struct{}
	if err := s.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return &fnv1.Resource{Resource: s}
}

func statusText(s fnv1.Status) string {
	switch s {
	case fnv1.Status_STATUS_CONDITION_TRUE:
		return "True"
	case fnv1.Status_STATUS_CONDITION_FALSE:
		return "False"
	}
	return "Unknown"
}

// catalogue reads the constants of package reason.
func catalogue(t *testing.T) []reason.Reason {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../reason/reason.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []reason.Reason
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			for _, name := range v.Names {
				out = append(out, reason.Reason(name.Name))
			}
		}
		return true
	})
	if len(out) < 10 {
		t.Fatalf("only %d reasons found: was the file moved?", len(out))
	}
	return out
}

package model_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/gorizond/koldun/functions/composetest"
	"github.com/gorizond/koldun/functions/model"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

const (
	meta   = "apiVersion: koldun.gorizond.io/v1\nkind: Model\nmetadata: {name: m, namespace: ns, generation: 3}\n"
	claim  = "apiVersion: koldun.gorizond.io/v1\nkind: XModel\nmetadata: {name: m-x7k2p, generation: 3}\n"
	tiny   = "sourceUrl: hf://org/tiny"
	commit = "0123456789abcdef0123456789abcdef01234567"
	config = `{"model_type":"llama","hidden_size":64,"intermediate_size":96,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":128,"max_position_embeddings":256}`

	looked   = "status: {conditions: [{type: Synced, status: 'True'}]}"
	whole    = "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {whole: true, sizeBytes: 3000000, weights: q40, modelFile: a.m, tokenizerFile: a.t, manifestSha256: abc}}"
	gaveUp   = "status: {conditions: [{type: Failed, status: 'True', message: no luck}]}"
	withHash = " {sourceUrl: hf://org/tiny@v1, revision: v2, "
)

// at returns what is observed of a Model whose commit is known.
func at(more map[string]string) map[string]string {
	out := map[string]string{
		"queue": composetest.Ready, "bucket": composetest.Ready, "source": looked, "converted": looked,
		"revision": "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {ports: [443], commit: " + commit + ", config: '" + config + "'}}",
	}
	maps.Copy(out, more)
	return out
}

// TestSourceFiles composes Models that are not converted: of an architecture that
// could not be, too.
func TestSourceFiles(t *testing.T) {
	const (
		spec  = meta + "spec: {" + tiny + ", conversion: {type: None}}"
		sized = "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {ports: [443], commit: " + commit + ", sizeBytes: 3000000000}}"
		found = "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {whole: true, sizeBytes: 3000000, modelFile: m.gguf, manifestSha256: abc}}"
	)
	seen := func(more map[string]string) map[string]string {
		out := map[string]string{
			"queue": composetest.Ready, "bucket": composetest.Ready, "source": looked,
			"revision": "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {commit: " + commit + ", config: '{\"model_type\":\"bert\"}'}}",
		}
		maps.Copy(out, more)
		return out
	}
	composetest.Table(t, model.Compose, map[string]composetest.Case{
		"SourceEnv": {
			Composite: meta + "spec: {" + tiny + ", conversion: {type: None}, env: [{name: HF_ENDPOINT, value: 'https://evil'}, {name: HTTPS_PROXY, value: 'http://$(HF_TOKEN)@proxy:3128'}], envFrom: [{configMapRef: {name: c}}]}",
			Observed:  seen(nil), Reason: reason.Downloading,
		},
		"SourceNotLooked":   {Composite: spec, Observed: seen(map[string]string{"source": "{}"}), Reason: reason.ConnectionPending, Says: "is searched"},
		"SourceDownloading": {Composite: spec, Observed: seen(nil), Reason: reason.Downloading},
		"SourceRegistering": {Composite: spec, Observed: seen(map[string]string{"source": found}), Reason: reason.Registering},
		"SourceReady":       {Composite: spec, Observed: seen(map[string]string{"source": found, "record": composetest.Ready}), Reason: reason.Available, Says: "/source/org/tiny/" + commit},
		"SourceVolume":      {Composite: meta + "spec: {" + tiny + ", conversion: {type: None}, pv: {}}", Observed: seen(map[string]string{"source": found}), Reason: reason.FillingVolume},
		// Before the first byte is downloaded.
		"SourceVolumeSmall": {
			Composite: meta + "spec: {" + tiny + ", conversion: {type: None}, download: {include: ['*.gguf']}, pv: {pvcCapacity: 1Gi}}",
			Observed:  seen(map[string]string{"revision": sized}), Reason: reason.VolumeTooSmall, Says: "Nothing is downloaded: spec.pv.pvcCapacity: the files take 2.8 GiB",
		},
		"SourceVolumeFits":   {Composite: meta + "spec: {" + tiny + ", conversion: {type: None}, pv: {capacity: 3Gi}}", Observed: seen(map[string]string{"revision": sized}), Reason: reason.Downloading},
		"SourceVolumeInWork": {Composite: meta + "spec: {" + tiny + ", conversion: {type: None}, pv: {capacity: 1Gi}}", Observed: seen(map[string]string{"revision": sized, "fetch-01234567": "{}"}), Reason: reason.Downloading},
		"SourcePreConverted": {Composite: meta + "spec: {preConverted: true, preConvertedPVCName: files, launchOptions: [--model, a/b.gguf], conversion: {type: None}}", Observed: map[string]string{"queue": composetest.Ready, "record": composetest.Ready}, Reason: reason.Available},
	})
}

func TestModel(t *testing.T) {
	ingress := map[string][]string{"ingresses": {"metadata: {name: i, namespace: ns}\nspec: {backend: {nats: {providerConfigRef: {kind: ClusterProviderConfig, name: c}}}}"}}
	spec := meta + "spec: {" + tiny + "}"
	unfit := strings.Replace(spec, "generation: 3", `annotations: {koldun.gorizond.io/runtime: '{"engine":"distributed-llama","nodes":4,"field":"spec.nodes"}'}`, 1)
	cases := map[string]composetest.Case{
		"SourceInvalid":     {Composite: meta + "spec: {sourceUrl: ':'}", Reason: reason.SourceInvalid, Says: "spec.sourceUrl"},
		"StaticFields":      {Composite: meta + "spec: {" + tiny + ", download: {huggingFaceTokenSecretRef: {name: t, namespace: other}}, objectStorage: {region: r}, pv: {storageClassName: a, csiDriver: b, csiMounter: c, csiOptions: d, volumeAttributes: {e: f}, csiSecretName: g, csiSecretNamespace: h, reclaimPolicy: Delete, accessModes: [ReadOnlyMany]}}", Reason: reason.ConnectionPending},
		"SourceOfStore":     {Composite: meta + "spec: {sourceUrl: s3://bucket/x}", Reason: reason.SourceInvalid, Says: "not a hub's repository"},
		"PathInvalid":       {Composite: meta + "spec: {" + tiny + ", localPath: 's3://'}", Reason: reason.SourceInvalid, Says: "spec.localPath"},
		"PathOfHub":         {Composite: meta + "spec: {" + tiny + ", localPath: hf://a/b}", Reason: reason.SourceInvalid, Says: "not s3://BUCKET/PREFIX"},
		"PathCharacters":    {Composite: meta + "spec: {" + tiny + ", localPath: a b}", Reason: reason.SourceInvalid, Says: "characters"},
		"OutputInvalid":     {Composite: meta + "spec: {" + tiny + ", conversion: {outputPath: a#b}}", Reason: reason.SourceInvalid, Says: "spec.conversion.outputPath"},
		"NATSInvalid":       {Composite: meta + "spec: {" + tiny + ", nats: {url: 'http://h'}}", Reason: reason.ConnectionInvalid, Says: "spec.nats.url"},
		"StoreInvalid":      {Composite: meta + "spec: {" + tiny + ", objectStorage: {endpoint: http://h, secretRef: {name: s, namespace: other}}}", Reason: reason.ConnectionInvalid, Says: "spec.objectStorage.secretRef"},
		"StoreAndReference": {Composite: meta + "spec: {" + tiny + ", objectStorage: {endpoint: http://h}}", Required: ingress, Reason: reason.ConnectionInvalid, Says: "describe both in one"},

		"New":                 {Composite: spec, Reason: reason.ConnectionPending},
		"HubNotAllowed":       {Composite: spec, Observed: map[string]string{"revision": "status: {atProvider: {refusal: not in the list, notAllowed: true}}"}, Reason: reason.NotAllowed, Says: "spec.sourceUrl: not in the list"},
		"Refused":             {Composite: spec, Observed: map[string]string{"revision": "status: {atProvider: {refusal: gated}}"}, Reason: reason.RevisionUnavailable, Says: "gated"},
		"Resolving":           {Composite: spec, Observed: map[string]string{"queue": composetest.Ready, "bucket": composetest.Ready}, Reason: reason.ResolvingRevision, Says: `"main" of hf://org/tiny is not resolved: the hub has not answered yet`},
		"ResolvingTrouble":    {Composite: meta + "spec:" + withHash + "download: {huggingFaceTokenSecretRef: {name: ' t '}}}", Observed: map[string]string{"queue": composetest.Ready, "bucket": composetest.Ready, "revision": "status: {conditions: [{type: Synced, status: 'False', message: timeout}]}"}, Reason: reason.ResolvingRevision, Says: `"v2" of hf://org/tiny is not resolved: timeout`},
		"PowerIsADefault":     {Composite: meta + "spec: {" + tiny + ", replicaPower: 2}", Observed: at(nil), Reason: reason.Downloading},
		"RuntimeUnfitLate":    {Composite: unfit, Observed: at(map[string]string{"fetch-01234567": "{}"}), Reason: reason.Downloading},
		"RuntimeUnfitFetched": {Composite: unfit, Observed: at(map[string]string{"source": whole, "fetch-01234567": "{}"}), Reason: reason.TopologyInvalid, Says: "as Dllama \"m\" says: spec.nodes: cannot spread"},
		"PowerUnfitConverted": {Composite: meta + "spec: {" + tiny + ", replicaPower: 2}", Observed: at(map[string]string{"converted": whole, "record": composetest.Ready}), Reason: reason.Available},
		"RuntimeUnfit":        {Composite: strings.Replace(meta, "generation: 3", `annotations: {koldun.gorizond.io/runtime: '{"engine":"distributed-llama","nodes":1,"rootMemory":1024,"field":"spec.nodes"}'}`, 1) + "spec: {" + tiny + "}", Observed: at(nil), Reason: reason.TopologyInvalid, Says: "limits.memory of spec.rootResources"},
		"RuntimeFits":         {Composite: strings.Replace(meta, "generation: 3", `annotations: {koldun.gorizond.io/runtime: '{"engine":"distributed-llama","nodes":1,"field":"spec.nodes"}'}`, 1) + "spec: {" + tiny + ", replicaPower: 2}", Observed: at(nil), Reason: reason.Downloading},
		"VolumeTooSmall":      {Composite: meta + "spec: {" + tiny + ", pv: {pvcCapacity: 1}}", Observed: at(nil), Reason: reason.VolumeTooSmall, Says: "spec.pv.pvcCapacity: the files take "},
		"VolumeTooSmallInUse": {Composite: meta + "spec: {" + tiny + ", pv: {capacity: 1Mi}}", Observed: at(map[string]string{"fetch-01234567": "{}"}), Reason: reason.Downloading},
		"VolumeTooSmallLate":  {Composite: meta + "spec: {" + tiny + ", pv: {capacity: 1}}", Observed: at(map[string]string{"converted": whole}), Reason: reason.VolumeTooSmall, Says: "spec.pv.capacity"},
		"Unsupported":         {Composite: spec, Observed: at(map[string]string{"revision": "status: {atProvider: {commit: " + commit + ", config: '{\"model_type\":\"bert\"}'}}"}), Reason: reason.ModelUnsupported, Says: "bert"},
		"ConfigUnknown":       {Composite: spec, Observed: at(map[string]string{"revision": "status: {atProvider: {commit: " + commit + "}}"}), Reason: reason.Downloading},
		"ConnectionsRunning":  {Composite: spec, Observed: at(map[string]string{"queue": "{}", "fetch-01234567": "{}"}), Reason: reason.Downloading},
		"NotLooked":           {Composite: spec, Observed: at(map[string]string{"source": "{}"}), Reason: reason.ConnectionPending, Says: commit},
		"NotLookedConverted":  {Composite: spec, Observed: at(map[string]string{"converted": "{}"}), Reason: reason.ConnectionPending},
		"NotLookedConverting": {Composite: spec, Observed: at(map[string]string{"converted": "{}", "source": whole, "convert-01234567": "{}"}), Reason: reason.Converting},

		"DownloadingTemporaryKeys": {Composite: spec, Observed: at(map[string]string{
			"bucket": "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {temporaryCredentials: true}}",
		}), Reason: reason.Downloading},
		"ReadyTemporaryKeys": {Composite: spec, Observed: at(map[string]string{
			"bucket":    "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {temporaryCredentials: true}}",
			"converted": whole, "record": composetest.Ready,
		}), Reason: reason.Available},
		"OwnFolder":        {Composite: spec, Observed: at(map[string]string{"bucket": ownFolder("True")}), Reason: reason.Downloading},
		"OwnFolderPath":    {Composite: meta + "spec: {" + tiny + ", localPath: teams/ns/x}", Observed: at(map[string]string{"bucket": ownFolder("True")}), Reason: reason.Downloading},
		"OwnFolderPending": {Composite: spec, Observed: at(map[string]string{"bucket": ownFolder("False")}), Reason: reason.ConnectionPending},
		"OwnFolderPathOut": {
			Composite: meta + "spec: {" + tiny + ", localPath: teams/other/x}", Observed: at(map[string]string{"bucket": ownFolder("False")}), Reason: reason.NotAllowed,
			Says: `spec.localPath: namespace "ns" may write folder "teams/ns" of bucket "koldun-models" and no other`,
		},
		"OwnFolderOutput": {
			Composite: meta + "spec: {" + tiny + ", localPath: teams/ns/x, conversion: {outputPath: teams/nsx}}", Observed: at(map[string]string{"bucket": ownFolder("False")}), Reason: reason.NotAllowed,
			Says: "spec.conversion.outputPath: ",
		},
		"PathOfMany":  {Composite: meta + "spec: {" + tiny + ", localPath: 'source/*'}", Reason: reason.SourceInvalid, Says: "characters that no prefix may have"},
		"Downloading": {Composite: spec, Observed: at(map[string]string{"source": "status: {conditions: [{type: Synced, status: 'True'}], atProvider: {sizeBytes: 7, progress: {stage: fetch, bytes: 50, total: 200, etaSeconds: 200}}}"}), Reason: reason.Downloading},
		"DownloadingAgain": {
			Composite: meta + "spec: {" + tiny + ", download: {memory: 1Gi, concurrency: 4, chunkMaxMiB: 16, include: ['*.json'], exclude: ['*.bin'], huggingFaceTokenSecretRef: {name: t}}, scheduling: {priorityClassName: high}}",
			Observed:  at(map[string]string{"source": "status: {conditions: [{type: Synced, status: 'True'}], atProvider: {progress: {stage: fetch, phase: Failed, message: no route, bytes: 500, total: 200}}}"}), Reason: reason.Downloading, Says: "tries again after: no route",
		},
		"DownloadWaits": {
			Composite: spec, Observed: at(map[string]string{"source": "status: {conditions: [{type: Synced, status: 'True'}], atProvider: {progress: {stage: fetch, phase: Running, message: no store, bytes: 50, total: 200}}}"}),
			Reason: reason.Downloading, Says: "runs, and tries again after: no store",
		},
		"DownloadUnknown": {
			Composite: spec, Observed: at(map[string]string{"source": "status: {conditions: [{type: Synced, status: 'False', message: no store}], atProvider: {progress: {stage: fetch, phase: Running, bytes: 50, total: 200}}}"}),
			Reason: reason.Downloading, Says: "What it has stored is not known: no store",
		},
		"DownloadFailed": {Composite: spec, Observed: at(map[string]string{"fetch": gaveUp}), Reason: reason.DownloadFailed, Says: "no luck"},
		"Converting": {
			Composite: meta + "spec: {" + tiny + ", conversion: {weightsFloatType: f32, memory: 2Gi, outputPath: out}}",
			Observed:  at(map[string]string{"source": whole, "converted": "status: {conditions: [{type: Synced, status: 'True'}], atProvider: {progress: {stage: convert, bytes: -1, total: 2}}}"}), Reason: reason.Converting,
		},
		"ConversionFailed": {Composite: spec, Observed: at(map[string]string{"source": whole, "convert": "status: {conditions: [{type: FailureTarget, status: 'True', message: no luck}]}"}), Reason: reason.ConversionFailed},
		"Converted":        {Composite: spec, Observed: at(map[string]string{"converted": whole}), Reason: reason.Registering, Says: "the entry was written a moment ago"},
		"RegisterTrouble":  {Composite: spec, Observed: at(map[string]string{"converted": whole, "record": "status: {conditions: [{type: Ready, status: 'False', message: no rights}]}"}), Reason: reason.Registering, Says: "no rights"},
		"Ready":            {Composite: spec, Observed: at(map[string]string{"converted": whole, "record": composetest.Ready}), Reason: reason.Available, Says: "s3://koldun-models/converted/org/tiny/" + commit + "/q40, "},
		"ReadyAgain":       {Composite: spec + "\nstatus: {conversionSizeGeneration: 1, conversionSizeBytes: 3000000}", Observed: at(map[string]string{"converted": whole, "record": composetest.Ready}), Reason: reason.Available},
		"ReadyLarger":      {Composite: spec + "\nstatus: {conversionSizeGeneration: 1, conversionSizeBytes: 2999999}", Observed: at(map[string]string{"converted": whole, "record": composetest.Ready}), Reason: reason.Available},
		"Verifying":        {Composite: strings.Replace(spec, "generation: 3", "generation: 3, annotations: {koldun.gorizond.io/force-size-rerun: '"+strings.Repeat("x", 254)+"'}", 1), Observed: at(map[string]string{"converted": whole, "record": composetest.Ready}), Reason: reason.Available},
		"Verified":         {Composite: strings.Replace(spec, "generation: 3", "generation: 3, annotations: {koldun.gorizond.io/force-size-rerun: a}", 1) + "\nstatus: {conversionSizeGeneration: 1, conversionSizeBytes: 3000000}", Observed: at(map[string]string{"converted": strings.Replace(whole, "whole: true", "whole: true, verified: a", 1), "record": composetest.Ready}), Reason: reason.Available},

		"Places": {
			Composite: meta + "spec: {" + tiny + ", localPath: s3://mine/models/x/, conversion: {convertWeights: f32}, objectStorage: {bucketForSource: lost, bucketForConvert: conv, endpoint: 'http://h:9000/', region: r, secretRef: {name: s}, manageBuckets: false}}",
			Observed:  at(map[string]string{"bucket-" + names.Hash(8, "mine"): composetest.Ready, "bucket-" + names.Hash(8, "conv"): composetest.Ready}), Reason: reason.Downloading,
		},
		"PlacesOld":      {Composite: meta + "spec: {" + tiny + ", cacheSpec: {bucket: old, endpoint: http://o, secretRef: {name: s}}}", Reason: reason.ConnectionPending},
		"PlacesBoth":     {Composite: meta + "spec: {" + tiny + ", cacheSpec: {bucket: old, endpoint: http://o, secretRef: {name: s}}, objectStorage: {endpoint: http://n, bucketForSource: new, secretRef: {name: new}}}", Reason: reason.ConnectionPending},
		"PlacesByConfig": {Composite: meta + "spec: {" + tiny + ", cacheSpec: {bucket: old, endpoint: http://o, secretRef: {name: s}}, objectStorage: {providerConfigRef: {name: p}}}", Reason: reason.ConnectionPending},
		"PlacesEscape":   {Composite: meta + "spec: {" + tiny + ", localPath: '../../x'}", Observed: at(nil), Reason: reason.Downloading},

		"Volume":        {Composite: meta + "spec: {" + tiny + ", pv: {}}", Observed: at(map[string]string{"converted": whole}), Reason: reason.FillingVolume},
		"VolumeAsked":   {Composite: meta + "spec: {" + tiny + ", pv: {capacity: 5Gi, pvcCapacity: 6Gi, pvcStorageClassName: fast, pvcAccessModes: [ReadWriteOnce, ReadOnlyMany]}}", Observed: at(map[string]string{"converted": whole}), Reason: reason.FillingVolume},
		"VolumeFailed":  {Composite: meta + "spec: {" + tiny + ", pv: {}}", Observed: at(map[string]string{"converted": whole, "fill": gaveUp}), Reason: reason.VolumeFailed, Says: "no luck"},
		"VolumeFilled":  {Composite: meta + "spec: {" + tiny + ", pv: {}}", Observed: at(map[string]string{"converted": whole, "fill": "status: {succeeded: 1}", "record": composetest.Ready}), Reason: reason.Available},
		"VolumeOfClaim": {Composite: claim + "spec: {claimRef: {namespace: ns, name: m}, " + tiny + ", pv: {}}", Observed: at(map[string]string{"converted": whole, "record": composetest.Ready}), Reason: reason.Available},
		"VolumeOfClaimAsked": {
			Composite: claim + "spec: {claimRef: {namespace: ns, name: m}, " + tiny + ", pv: {capacity: 5Gi, accessModes: [ReadOnlyMany], reclaimPolicy: Delete, storageClassName: s, csiDriver: d, csiMounter: m, csiOptions: o, csiSecretName: sec, csiSecretNamespace: kube, volumeAttributes: {a: b}}}",
			Observed:  at(map[string]string{"converted": whole, "record": composetest.Ready}), Reason: reason.Available,
		},

		"PreConverted": {Composite: meta + "spec: {preConverted: true, preConvertedPVCName: claim}", Reason: reason.ConnectionPending},
		"Legacy": {
			Composite: meta + "spec: {" + tiny + ", pipProxy: a, download: {image: a, command: [b], args: [c]}, conversion: {image: a, command: [b], args: [c], rcloneImage: d, toolsImage: e, converterVersion: f, writerURL: g, writerConfigMap: h, dependencies: {a: b}}}",
			Reason:    reason.ConnectionPending,
		},
	}
	for name, c := range cases {
		if c.Required == nil { // the namespace has no Ingress
			c.Required = map[string][]string{"ingresses": {}}
			cases[name] = c
		}
	}
	composetest.Table(t, model.Compose, cases)
}

// TestPreConverted reads the headers of files in a volume before they are served.
// ownFolder is the status of a Bucket of a namespace with a folder of its own.
func ownFolder(ready string) string {
	return "status: {conditions: [{type: Ready, status: '" + ready + "'}], atProvider: {temporaryCredentials: true, namespaceFolder: teams/ns}}"
}

func TestPreConverted(t *testing.T) {
	const (
		inspected = "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {whole: true, sizeBytes: 5000, weights: f32, shape: {arch: llama, dim: 64, hiddenDim: 96, layers: 2, heads: 4, kvHeads: 2, headDim: 16, vocabSize: 128, seqLen: 256, weights: f32}}}"
		broken    = "status: {conditions: [{type: Failed, status: 'True', message: 'Container inspect failed with exit code 12'}]}"
		served    = "\nstatus: {outputPVCName: claim, artifact: {modelFile: x.m, tokenizerFile: y.t, weights: f32, sizeBytes: 5000, shape: {arch: llama, dim: 64, hiddenDim: 96, layers: 2, heads: 4, kvHeads: 2, headDim: 16, vocabSize: 128, seqLen: 256, weights: f32}}}"
	)
	spec := func(more string) string {
		return meta + "spec: {preConverted: true, preConvertedPVCName: claim, launchOptions: [--model, /model/x.m, --tokenizer=y.t]" + more + "}"
	}
	seen := func(more map[string]string) map[string]string {
		out := map[string]string{"queue": composetest.Ready}
		maps.Copy(out, more)
		return out
	}
	composetest.Table(t, model.Compose, map[string]composetest.Case{
		"PreConvertedInspecting":  {Composite: spec(", conversion: {weightsFloatType: f32}"), Observed: seen(nil), Reason: reason.Inspecting, Says: `"claim"`},
		"PreConvertedUnmounted":   {Composite: spec(""), Observed: seen(map[string]string{"pods": "status: {atProvider: {reason: VolumeUnavailable, message: no such claim}}"}), Reason: reason.VolumeUnavailable, Says: "no such claim"},
		"PreConvertedNotFound":    {Composite: spec(""), Observed: seen(map[string]string{"inspect": broken}), Reason: reason.SourceNotFound, Says: "exit code 12"},
		"PreConvertedNotRead":     {Composite: spec(""), Observed: seen(map[string]string{"inspect": gaveUp}), Reason: reason.InspectionFailed, Says: "no luck"},
		"PreConvertedWhy":         {Composite: spec(""), Observed: seen(map[string]string{"inspect": gaveUp, "pods": "status: {atProvider: {reason: DataCorrupt, message: too short}}"}), Reason: reason.DataCorrupt, Says: "too short"},
		"PreConvertedInspected":   {Composite: spec(""), Observed: seen(map[string]string{"inspected": inspected}), Reason: reason.Registering},
		"PreConvertedReady":       {Composite: spec(""), Observed: seen(map[string]string{"inspected": inspected, "record": composetest.Ready}), Reason: reason.Available, Says: "PersistentVolumeClaim claim, 4.9 KiB"},
		"PreConvertedSized":       {Composite: spec(", preConvertedSizeBytes: 2048, preConvertedSizeHuman: a lot"), Observed: seen(map[string]string{"inspected": inspected, "record": composetest.Ready}), Reason: reason.Available, Says: "a lot"},
		"PreConvertedServed":      {Composite: spec("") + served, Observed: seen(map[string]string{"record": composetest.Ready, "pods": "status: {atProvider: {reason: VolumeUnavailable, message: in use}}"}), Reason: reason.Available},
		"PreConvertedServedFalse": {Composite: spec("") + served, Observed: seen(map[string]string{"record": composetest.Ready, "inspect": gaveUp}), Reason: reason.InspectionFailed},
		"PreConvertedOther":       {Composite: spec(", preConvertedSizeBytes: 7") + strings.Replace(served, "y.t", "z.t", 1), Observed: map[string]string{"record": composetest.Ready}, Reason: reason.Available},
		"PreConvertedReportComes": {Composite: spec(""), Observed: seen(map[string]string{"inspect": "status: {succeeded: 1}"}), Reason: reason.Inspecting, Says: "report is not here yet"},
		"PreConvertedNoReport":    {Composite: spec(""), Observed: seen(map[string]string{"inspect": "status: {succeeded: 1}", "record": composetest.Ready}), Reason: reason.Available},
	})
}

// TestExitStatusesAreExplained maps the exit statuses of a Job to reasons.
func TestExitStatusesAreExplained(t *testing.T) {
	for status, want := range map[int]reason.Reason{
		10: reason.InputRefused, 11: reason.CredentialsRefused, 12: reason.SourceNotFound, 13: reason.StorageFull,
		14: reason.DataCorrupt, 15: reason.StorageConflict, 1: reason.DownloadFailed,
	} {
		job := fmt.Sprintf("status: {conditions: [{type: Complete, status: 'False'}, {type: Failed, status: 'True', message: 'Container fetch failed with exit code %d'}]}", status)
		rsp := composetest.Run(t, model.Compose, composetest.Case{Composite: meta + "spec: {" + tiny + "}", Observed: at(map[string]string{"fetch": job})})
		for _, c := range rsp.GetConditions() {
			if c.GetType() == "Serving" && c.GetReason() != string(want) {
				t.Errorf("exit status %d is explained as %s, want %s", status, c.GetReason(), want)
			}
		}
	}
}

func TestModelWithoutNamespaceIsRefused(t *testing.T) {
	composetest.Refuses(t, model.Compose, "apiVersion: koldun.gorizond.io/v1\nkind: Model\nmetadata: {name: m}\nspec: {}")
}

package router_test

import (
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/internal/names"
)

// A world is a composite and what it is composed with. Fields of one exclude each
// other, so a kind has several worlds.
type world struct {
	spec   map[string]any
	states []worldState
	reader *reader
}

// A reader is a composite that requires the one of a world under a key, with a status.
type reader struct {
	composite map[string]any
	key       string
	status    map[string]any
}

// readBy is a world whose composite another one reads.
func readBy(composite, key, status, spec string, s worldState) world {
	w := in(spec, s)
	w.reader = &reader{key: key}
	for text, into := range map[string]*map[string]any{composite: &w.reader.composite, status: &w.reader.status} {
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			panic(err)
		}
	}
	return w
}

// A worldState is what exists around a composite.
type worldState struct {
	observed state
	required map[string][]string
	status   string // of the composite
}

func in(spec string, states ...worldState) world {
	w := world{states: states}
	if err := yaml.Unmarshal([]byte(spec), &w.spec); err != nil {
		panic(err)
	}
	if len(states) == 0 {
		w.states = []worldState{{}}
	}
	return w
}

// with is a state with required objects.
func with(observed state, required map[string][]string) worldState {
	return worldState{observed: observed, required: required}
}

// worlds returns the worlds of each kind.
func worlds() map[string][]world {
	const wholeFiles = "status: {atProvider: {whole: true, weights: q40, modelFile: a.m, tokenizerFile: a.t, sizeBytes: 7}, conditions: [{type: Ready, status: 'True'}]}"
	fetching := with(modelWith(nil), nil)
	converting := with(modelWith(state{"source": wholeFiles}), nil)
	converted := with(modelWith(state{"converted": wholeFiles, "fill": "status: {succeeded: 1}"}), nil)
	unconverted := with(modelWith(state{"source": wholeFiles}), nil)
	stored := with(state{"queue": ready}, nil)
	inspected := with(state{"queue": ready, "inspected": wholeFiles}, nil)

	const shape = "shape: {arch: llama, dim: 256, hiddenDim: 512, layers: 2, heads: 8, kvHeads: 8, headDim: 32, vocabSize: 512, seqLen: 8192, weights: q40}"
	const modelFiles = "artifact: {url: s3://b/x, bucket: b, modelFile: a.m, tokenizerFile: a.t, weights: q40, sizeBytes: 1000000, size: 1 MB, " + shape + "}"
	const served = "{apiVersion: koldun.gorizond.io/v1, kind: Model, metadata: {name: m, namespace: ns}, status: {outputPVCName: claim, " + modelFiles + ", conditions: [{type: Serving, status: 'True', reason: Available}]}}"
	const plainFiles = "{apiVersion: koldun.gorizond.io/v1, kind: Model, metadata: {name: m, namespace: ns}, status: {outputPVCName: claim, artifact: {url: s3://b/x, bucket: b, modelFile: '', tokenizerFile: '', weights: '', sizeBytes: 1000000, size: 1 MB}, conditions: [{type: Serving, status: 'True', reason: Available}]}}"
	connected := state{"bucket": ready, "runners": ready, "record": ready, "member": ready, "registry": ready, "root": "status: {readyReplicas: 1}", "ingress-part": "status: {atProvider: {outputs: {backendServiceName: s}}}"}
	around := map[string][]string{"model": {served}, "ingresses": {}, "namesake": {}}
	serving := with(connected, around)
	inline := with(join(connected, state{"model-part": "status: {atProvider: {serving: true, outputs: {outputPVCName: claim, " + modelFiles + "}}}"}), around)
	const granting = "{apiVersion: koldun.gorizond.io/v1, kind: Model, metadata: {name: m, namespace: other}, spec: {allowedNamespaces: [ns]}}"
	asking := with(join(connected, state{"token-" + names.Hash(8, "other", "m"): ready}), map[string][]string{
		"model": {granting}, "other-ingress": {"{apiVersion: koldun.gorizond.io/v1, kind: Ingress, metadata: {name: i, namespace: other}}"}, "ingresses": {}, "namesake": {},
	})
	source := with(connected, map[string][]string{"model": {plainFiles}, "ingresses": {}, "namesake": {}})

	running := with(state{"queue": ready, "gateway": "status: {readyReplicas: 1}", "dispatcher": "status: {readyReplicas: 1}"}, nil)
	alone := with(state{"queue": ready, "pool": ready, "dispatcher": "status: {readyReplicas: 1}", "member": ready}, map[string][]string{"ingresses": {}})
	workers := with(state{"runners": ready}, map[string][]string{"workers": {"{apiVersion: koldun.gorizond.io/v1, kind: Worker, metadata: {name: w, namespace: ns}, spec: {replicas: 3}}"}, "ingresses": {}})
	downloading := with(state{"revision": "status: {atProvider: {commit: '" + commit + "'}}"}, map[string][]string{"volume": {"metadata: {name: files, uid: u}"}, "token": {"data: {token: dA==, aaa: dA==, bbb: dA==}"}, "jobs": {}})
	again, complete := downloading, downloading
	again.status = "{reload: {lastTokenDigest: another}}"
	complete.observed = state{"download-" + names.Hash(8, "org/tiny") + "-01234567": "{metadata: {name: j, annotations: {koldun.gorizond.io/applied-spec: '{}'}}, status: {succeeded: 1, conditions: [{type: Complete, status: 'True'}]}}"}
	complete.required, complete.status = nil, "{models: [{name: org/tiny, phase: Completed, jobName: j}]}"
	labelling := with(state{"rule": ready}, nil)

	return map[string][]world{
		"Model": {
			in("{envFrom: [{secretRef: {name: s}}], sourceUrl: hf://org/tiny, pv: {}, download: {}, conversion: {}}", fetching, converting, converted),
			in("{sourceUrl: hf://org/tiny, conversion: {type: None}}", fetching, unconverted),
			in("{sourceUrl: hf://org/tiny, objectStorage: {endpoint: 'https://s3.example'}}", fetching),
			readBy(dllama+"spec: {modelRef: {name: m, namespace: other}}", "model", "{"+modelFiles+"}", "{sourceUrl: hf://org/tiny}", serving),
			readBy(dllama+"spec: {modelRef: {name: m}}", "model", "{"+modelFiles+"}", "{sourceUrl: hf://org/tiny}", serving),
			in("{preConverted: true, preConvertedPVCName: claim, launchOptions: ['--model=a.m', '--tokenizer=a.t']}", stored, inspected),
		},
		"ModelDownload": {
			in("{envFrom: [{secretRef: {name: s}}], storagePVC: files, hfTokenRef: {name: hf, key: token}, models: [{name: org/tiny}], settings: {}}", downloading, again, complete),
			in("{storagePVC: files, models: [{name: org/tiny}, {name: org/other}], settings: {memory: 2Gi}}", downloading),
		},
		"Dllama": {
			in("{envFrom: [{secretRef: {name: s}}], modelRef: {name: m}, engine: {type: distributed-llama}}", serving),
			in("{modelRef: {name: m}, nodes: 4, engine: {type: distributed-llama}, expose: {route: {host: h}}}", serving),
			in("{model: {envFrom: [{secretRef: {name: s}}], sourceUrl: hf://org/tiny}, expose: {backendEnvFrom: [{secretRef: {name: s}}]}}", inline),
			in("{model: {preConverted: true, preConvertedPVCName: claim}, expose: {route: {host: h, tls: [{secretName: t}]}}}", inline),
			in("{modelRef: {name: m}, engine: {type: openai, server: {profile: vllm}}}", source),
			in("{modelRef: {name: m}, nodes: 2, rootImage: i, engine: {type: openai, server: {profile: generic, command: [a]}}}", source),
			in("{engine: {type: openai, server: {source: download, profile: vllm, model: org/m}}}", source),
			in("{engine: {type: openai, server: {url: 'https://a.example/v1'}}}", source),
			in("{modelRef: {name: m, namespace: other}, ingressRef: {name: i}}", asking),
		},
		"Session": {
			in("{envFrom: [{secretRef: {name: s}}], modelRef: {name: m}}", alone),
			in("{modelRef: {name: m}, engine: {type: openai, server: {profile: vllm}}}", alone),
			in("{modelRef: {name: m}, engine: {type: openai, server: {url: 'https://a.example/v1'}}}", alone),
		},
		"Ingress": {
			in("{backend: {envFrom: [{secretRef: {name: s}}], backendEnvFrom: [{secretRef: {name: s}}], replicas: 2, queue: {}}, route: {host: h}}", running),
			in("{backend: {engine: {type: openai, server: {profile: vllm}}}, route: {host: h, tls: [{secretName: t}], gateways: [{name: g}]}}", running),
			in("{backend: {engine: {type: openai, server: {url: 'https://a.example/v1'}}}}", running),
		},
		"Root": {
			in("{envFrom: [{secretRef: {name: s}}], modelRef: claim, serves: ns/m, image: i}", workers),
			in("{modelRef: claim, image: i, workerSelector: {a: b}}", workers),
			in("{modelRef: claim, image: i, workers: ['10.0.0.1:9999']}", workers),
		},
		"Worker": {
			in("{envFrom: [{secretRef: {name: s}}], image: i, replicas: 2}"),
			in("{image: i}"),
		},
		"AutoNodeLabeler": {
			in("{labels: {a: b}}", labelling),
			in("{labels: {a: b}, matchExpression: {key: a, operator: In, values: [x]}}", labelling),
			in("{labels: {a: b}, matchExpressions: [{key: a, operator: In, values: [x]}]}", labelling),
		},
		"AIModelMap": modelMaps(),
		"AIDeployment": {
			in("{envFrom: [{secretRef: {name: s}}], engine: {name: vllm}, models: [{uri: org/repo}], endpoint: [{domain: a.example}], ingress: {}}"),
			in("{engine: {name: localai}, models: [{uri: phi-2}], endpoint: [{domain: a.example}], route: {kind: HTTPRoute, parentRefs: [{name: g}]}}"),
			in("{engine: {name: generic}, endpoint: [{domain: a.example, port: 8080}], deployment: {template: {spec: {containers: [{name: c, image: i}]}}}}"),
			in("{engine: {name: vllm}, models: [{uri: org/repo}], gateway: {}}"),
			in("{engine: {name: distributed-llama}, models: [{uri: org/repo}]}"),
			in("{engine: {name: vllm}, models: [{uri: org/repo}], deployment: {accelerator: {interface: CUDA}}}"),
			in("{engine: {name: vllm}, models: [{uri: org/repo}], endpoint: [{domain: a.example}], ingress: {tls: true}, autoscaling: {maxReplicas: 4}}"),
			in("{engine: {name: vllm}, models: [{modelMapRef: {name: m, variant: aaa}}]}", with(nil, map[string][]string{"map-ns/m": {"{apiVersion: koldun.gorizond.io/v1, kind: AIModelMap, metadata: {name: m, namespace: ns}, spec: {vllm: [{variant: aaa, uri: org/one}, {variant: bbb, uri: org/two}]}}"}})),
			in("{engine: {name: vllm}, models: [{uri: repo}], modelSource: {pvc: {claimName: c}}}"),
		},
		"ModelOrchestra": {
			in("{gateway: {envFrom: [{secretRef: {name: s}}], service: {}, ingress: {enabled: true, hosts: [{host: h}]}}, applications: {a: {envFrom: [{secretRef: {name: s}}], service: {}, ingress: {enabled: true, hosts: [{host: h}]}, scaling: {enabled: true}}}}"),
			in("{applicationTemplate: {envFrom: [{secretRef: {name: s}}], service: {}, ingress: {enabled: true, hosts: [{host: h}]}, modelsVolume: {emptyDir: {}}, scaling: {enabled: true, spec: {minReplicaCount: 5}}}, applications: {a: {}}}"),
			in("{applications: {a: {modelsVolume: {emptyDir: {}}, scaling: {enabled: true, spec: {minReplicaCount: 5}}}}}"),
			in("{backend: Koldun, applicationTemplate: {readerConfig: {modelName: org/tiny}, engine: {type: openai, server: {profile: vllm}}}, applications: {a: {}}}"),
			in("{backend: Koldun, applicationTemplate: {engine: {type: openai, server: {url: 'https://a.example/v1'}}}, applications: {a: {}}}"),
			in("{backend: Koldun, applications: {a: {readerConfig: {modelName: org/tiny}, engine: {type: openai, server: {profile: vllm}}}}}"),
			in("{backend: Koldun, applications: {a: {engine: {type: openai, server: {url: 'https://a.example/v1'}}}}}"),
			in("{applicationTemplate: {readerConfig: {modelName: org/tiny}}, applications: {a: {readerConfig: {modelName: org/tiny, device: cuda}, scaling: {enabled: true, type: HorizontalPodAutoscaler}}}}"),
			in("{backend: Koldun, applications: {a: {readerConfig: {modelName: org/tiny}}}}"),
		},
	}
}

// modelMaps returns the worlds of AIModelMaps: AIDeployments of each engine read them.
func modelMaps() []world {
	out := []world{in("{}")}
	for list, engine := range map[string]string{
		"vllm": "vllm", "sglang": "sglang", "tgi": "tgi", "llamacpp": "llama.cpp", "ollama": "ollama", "localai": "localai", "triton": "triton",
		"tensor_rt": "triton", "tensorrt-llm": "tensorrt-llm", "deepspeed-mii": "deepspeed-mii", "distributed-llama": "distributed-llama",
	} {
		composite := aideployment("engine: {name: " + engine + "}, models: [{modelMapRef: {name: x, variant: aaa}}]")
		out = append(out, readBy(composite, "map-ns/x", "{}", "{"+list+": [{variant: aaa, uri: 'https://a.example/x.tar.gz'}]}", with(nil, map[string][]string{})))
	}
	return out
}

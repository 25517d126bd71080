package validation_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/apis/validation"
)

const minimal = `
apiVersion: koldun.gorizond.io/v1
kind: Dllama
metadata: {name: tiny}
spec:
  model: {sourceUrl: https://huggingface.co/gorizond/koldun-tiny}
  expose: {allowAnonymous: true}
`

// ingress has a field of its backend set.
func ingress(field string) string {
	return "{apiVersion: koldun.gorizond.io/v1, kind: Ingress, metadata: {name: a}, spec: {backend: {" + field + "}}}"
}

func TestCheck(t *testing.T) {
	checkAll(t, map[string]check{
		"Minimal":      {minimal, nil},
		"UnknownField": {strings.Replace(minimal, "expose:", "exposed: {}\n  expose:", 1), []string{"spec.exposed: unknown field"}},
		"UnknownDeep":  {strings.Replace(minimal, "{sourceUrl:", "{weights: q40, sourceUrl:", 1), []string{"spec.model.weights: unknown field"}},
		"UnknownKind":  {strings.Replace(minimal, "kind: Dllama", "kind: Lama", 1), []string{`kind "Lama"`, "koldun.gorizond.io/v1/Dllama"}},
		"WrongType":    {strings.Replace(minimal, "expose:", "replicaPower: two\n  expose:", 1), []string{"spec.replicaPower", "must be of type integer"}},
		"OutOfRange":   {strings.Replace(minimal, "expose:", "replicaPower: 11\n  expose:", 1), []string{"spec.replicaPower", "less than or equal to 10"}},
		"GatewayArgs":  {ingress("extraArgs: ['--strict-parameters', '--cors-origin=https://a.example']"), nil},
		"Namespace":    {ingress("extraArgs: ['--strict-parameters', '--namespace=victim']"), []string{"spec.backend.extraArgs", "--namespace and --namespaces are not allowed"}},
		"Namespaces":   {ingress("extraArgs: ['--namespaces', 'victim']"), []string{"spec.backend.extraArgs", "--namespace and --namespaces are not allowed"}},
		"NotInEnum":    {strings.Replace(minimal, "koldun-tiny}", "koldun-tiny, conversion: {weightsFloatType: q8}}", 1), []string{"spec.model.conversion.weightsFloatType", `"q40", "f32"`}},
		"Rule":         {strings.Replace(minimal, "expose:", "modelRef: {name: other}\n  expose:", 1), []string{"spec", "not both"}},
		"Missing":      {strings.Replace(minimal, "sourceUrl: https://huggingface.co/gorizond/koldun-tiny", "", 1), []string{"spec.model.sourceUrl", "Required"}},
		"NoName":       {strings.Replace(minimal, "{name: tiny}", "{}", 1), []string{"metadata.name", "Required"}},
		"BadName":      {strings.Replace(minimal, "{name: tiny}", "{name: Tiny_1}", 1), []string{"metadata.name", "Tiny_1"}},
		"BadNamespace": {strings.Replace(minimal, "{name: tiny}", "{name: tiny, namespace: A}", 1), []string{"metadata.namespace"}},
		"NoTime":       {ingress("conversationTTL: 0s"), []string{"spec.backend.conversationTTL", "the least is 1s"}},
		"NoBody":       {ingress("maxBodySize: 0"), []string{"spec.backend.maxBodySize", "the least is 1 byte"}},
		"NegativeBody": {ingress("maxBodySize: -5Mi"), []string{"spec.backend.maxBodySize", "the least is 1 byte"}},
		"SmallBody":    {ingress("maxBodySize: 1m"), []string{"spec.backend.maxBodySize", "the least is 1 byte"}},
		"Stored":       {ingress("responses: {ttl: 720h, maxBytes: 1Mi}"), nil},
		"StoredLong":   {ingress("responses: {ttl: 721h}"), []string{"spec.backend.responses.ttl", "between 1s and 720h"}},
		"StoredShort":  {ingress("responses: {ttl: 0s}"), []string{"spec.backend.responses.ttl", "between 1s and 720h"}},
		"StoredLittle": {ingress("responses: {maxBytes: 1048575}"), []string{"spec.backend.responses.maxBytes", "the least is 1Mi"}},
		"Negative":     {ingress("queueTimeout: -1h"), []string{"spec.backend.queueTimeout", "the least is 1s"}},
		"NotATime":     {ingress("responseTimeout: soon"), []string{"spec.backend.responseTimeout"}},
		"Times":        {ingress("responseTimeout: 1h30m, queueTimeout: 90s, conversationTTL: 1s"), nil},
		"NoSpec":       {"{apiVersion: koldun.gorizond.io/v1, kind: Dllama, metadata: {name: a}}", []string{"spec", "Required"}},
	})
}

// A check is a manifest, and what the error must say; nothing means no error.
type check struct {
	manifest string
	want     []string
}

func checkAll(t *testing.T, cases map[string]check) {
	t.Helper()
	schemas, err := validation.Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var obj map[string]any
			if err := yaml.Unmarshal([]byte(c.manifest), &obj); err != nil {
				t.Fatal(err)
			}
			err := schemas.Check(t.Context(), obj)
			if len(c.want) == 0 && err != nil {
				t.Errorf("Check: %v", err)
			}
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("Check: %v, want it to say %q", err, want)
				}
			}
		})
	}
}

// dllama has the fields of spec.engine.server, and further fields of the spec.
func dllama(server, spec string) string {
	return "{apiVersion: koldun.gorizond.io/v1, kind: Dllama, metadata: {name: a}, spec: {engine: {type: openai, server: {" + server + "}}" + spec + "}}"
}

func TestIngressRef(t *testing.T) {
	const ref = "ingressRef: {name: i}, modelRef: {name: m, namespace: other}"
	claim := func(spec string) string {
		return "{apiVersion: koldun.gorizond.io/v1, kind: Dllama, metadata: {name: a}, spec: {" + spec + "}}"
	}
	checkAll(t, map[string]check{
		"Given":       {claim(ref), nil},
		"Slots":       {claim(ref + ", engine: {slots: 4}, expose: {}"), nil},
		"OwnModel":    {claim("ingressRef: {name: i}, modelRef: {name: m}"), []string{"spec.ingressRef", "give modelRef with a namespace"}},
		"InlineModel": {claim("ingressRef: {name: i}, model: {sourceUrl: hf://org/repo}"), []string{"spec.ingressRef"}},
		"NoModel":     {claim("ingressRef: {name: i}"), []string{"spec.ingressRef"}},
		"Scaled":      {claim(ref + ", expose: {scaling: {}}"), []string{"spec.ingressRef"}},
		"Server":      {claim(ref + ", engine: {type: openai, server: {url: 'https://h/v1'}}"), []string{"spec.ingressRef", "only slots"}},
		"Type":        {claim(ref + ", engine: {type: embedded}"), []string{"spec.ingressRef"}},
		"Context":     {claim(ref + ", engine: {maxSeqLen: 64}"), []string{"spec.ingressRef"}},
		"Name":        {claim("ingressRef: {name: a/b}, modelRef: {name: m, namespace: other}"), []string{"spec.ingressRef.name"}},
	})
}

func TestServer(t *testing.T) {
	const (
		url  = "url: 'https://api.example.com/v1'"
		file = ", modelRef: {name: m}"
	)
	checkAll(t, map[string]check{
		"External":           {dllama(url+", apiKeySecretRef: {name: s, key: k}", ""), nil},
		"ExternalOfModel":    {dllama(url, file), nil},
		"ExternalInline":     {dllama(url, ", model: {sourceUrl: hf://org/repo}"), []string{"reads no files"}},
		"ExternalArgs":       {dllama(url+", args: [--x]", ""), []string{"spec.engine.server.url", "have no effect on a server outside the pods"}},
		"ExternalContext":    {strings.Replace(dllama(url, ""), "{type:", "{maxSeqLen: 64, type:", 1), []string{"maxSeqLen"}},
		"Password":           {dllama("url: 'https://user:secret@h/v1'", ""), []string{"spec.engine.server.url"}},
		"VariableInURL":      {dllama("url: 'https://$(HOST)/v1'", ""), []string{"spec.engine.server.url"}},
		"VariableInPath":     {dllama("url: 'https://h/$(PATH)'", ""), []string{"spec.engine.server.url"}},
		"NewlineInURL":       {dllama(`url: "https://h/v1\n"`, ""), []string{"spec.engine.server.url"}},
		"TabInURL":           {dllama(`url: "https://h\t/v1"`, ""), []string{"spec.engine.server.url"}},
		"KeyWithoutURL":      {dllama("apiKeySecretRef: {name: s, key: k}", file), []string{"apiKeySecretRef"}},
		"Download":           {dllama("profile: vllm, source: download, model: Qwen/Qwen3-8B", ""), nil},
		"DownloadNothing":    {dllama("profile: vllm, source: download", ""), []string{"spec.engine.server.model"}},
		"FilesOfNoModel":     {dllama("profile: vllm", ""), []string{"needs neither"}},
		"UnknownProfile":     {dllama("profile: tritan", file), []string{"spec.engine.server.profile", "llama.cpp"}},
		"OtherType":          {strings.Replace(dllama("profile: vllm", file), "openai", "embedded", 1), []string{"spec.engine.server"}},
		"NoServer":           {"{apiVersion: koldun.gorizond.io/v1, kind: Dllama, metadata: {name: a}, spec: {engine: {type: openai}, modelRef: {name: m}}}", []string{"spec.engine.server"}},
		"Buffers":            {strings.Replace(dllama("profile: vllm", file), "{type:", "{bufferFloatType: q80, type:", 1), []string{"have no effect on a server"}},
		"Turbo":              {strings.Replace(dllama("profile: vllm", file), "{type:", "{netTurbo: false, type:", 1), []string{"have no effect on a server"}},
		"Env":                {dllama("env: [{name: A, value: b}, {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}]", file), nil},
		"EnvOurs":            {dllama("env: [{name: KOLDUN_PORT_LLM, value: '1'}]", file), []string{"Koldun's own"}},
		"EnvOfField":         {dllama("env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]", file), []string{"unknown field"}},
		"EnvBoth":            {dllama("env: [{name: A, value: b, valueFrom: {secretKeyRef: {name: s, key: k}}}]", file), []string{"either value or valueFrom"}},
		"EnvTwoSources":      {dllama("env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}, configMapKeyRef: {name: s, key: k}}}]", file), []string{"secretKeyRef or configMapKeyRef"}},
		"Cache":              {dllama("cache: {claimName: c}", file), nil},
		"CacheBoth":          {dllama("cache: {claimName: c, sizeLimit: 1Gi}", file), []string{"either claimName or sizeLimit"}},
		"Writable":           {dllama("writable: [/var/run, /data]", file), nil},
		"WritableTwice":      {dllama("writable: [/tmp]", file), []string{"mounted already"}},
		"WritableUp":         {dllama("writable: [/a/../proc]", file), []string{"mounted already"}},
		"SidecarsPort":       {dllama("port: 8081", file), []string{"port of the sidecar"}},
		"Startup":            {dllama("startupTimeout: 10s", file), []string{"must be at least 1m"}},
		"VariableInName":     {dllama("servedName: $(HOME)", file), []string{"spec.engine.server.servedName"}},
		"Traffic":            {"{apiVersion: koldun.gorizond.io/v1, kind: Dllama, metadata: {name: a}, spec: {modelRef: {name: m}, traffic: {model: m, weight: 0, fallback: true}}}", nil},
		"TrafficNegative":    {"{apiVersion: koldun.gorizond.io/v1, kind: Dllama, metadata: {name: a}, spec: {modelRef: {name: m}, traffic: {weight: -1}}}", []string{"spec.traffic.weight"}},
		"TrafficTooMuch":     {"{apiVersion: koldun.gorizond.io/v1, kind: Dllama, metadata: {name: a}, spec: {modelRef: {name: m}, traffic: {weight: 1001}}}", []string{"spec.traffic.weight"}},
		"TrafficOfNamespace": {"{apiVersion: koldun.gorizond.io/v1, kind: Dllama, metadata: {name: a}, spec: {modelRef: {name: m}, traffic: {model: other/m}}}", []string{"spec.traffic.model"}},
		"TrafficOfSession":   {"{apiVersion: koldun.gorizond.io/v1, kind: Session, metadata: {name: a}, spec: {modelRef: {name: m}, traffic: {weight: 1000}}}", nil},
		"WeightWithoutGroup": {"{apiVersion: koldun.m.gorizond.io/v1alpha1, kind: ModelRecord, metadata: {name: a}, spec: {forProvider: {namespace: ns, name: m, weight: 3}}}", []string{"name it"}},
		"NotConverted":       {"{apiVersion: koldun.gorizond.io/v1, kind: Model, metadata: {name: a}, spec: {sourceUrl: hf://org/repo, conversion: {type: None}}}", nil},
		"NotConvertedBoth":   {"{apiVersion: koldun.gorizond.io/v1, kind: Model, metadata: {name: a}, spec: {sourceUrl: hf://org/repo, conversion: {type: None, weightsFloatType: q40}}}", []string{"without a conversion"}},
	})
}

func TestCheckFillsInDefaults(t *testing.T) {
	schemas, err := validation.Load()
	if err != nil {
		t.Fatal(err)
	}
	var obj map[string]any
	if err := yaml.Unmarshal([]byte(minimal), &obj); err != nil {
		t.Fatal(err)
	}
	if err := schemas.Check(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	spec, _ := obj["spec"].(map[string]any)
	expose, _ := spec["expose"].(map[string]any)
	service, _ := expose["service"].(map[string]any)
	if got := service["port"]; got != int64(8082) {
		t.Errorf("spec.expose.service.port = %v (%T), want the default 8082", got, got)
	}
}

// TestEveryKindIsUsable compiles the rules of every kind, which Load does not.
func TestEveryKindIsUsable(t *testing.T) {
	schemas, err := validation.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range schemas.Known() {
		i := strings.LastIndex(known, "/")
		if _, err := schemas.Violations(t.Context(), map[string]any{"apiVersion": known[:i], "kind": known[i+1:]}, true); err != nil {
			t.Errorf("%s: %v", known, err)
		}
	}
}

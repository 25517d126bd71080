package router_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
)

// TestSeeds shows that manifests which people have today are accepted as they
// are, and composed.
func TestSeeds(t *testing.T) {
	schemas, err := validation.Load()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/seeds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no manifests: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var obj map[string]any
			if err := yaml.UnmarshalStrict(raw, &obj); err != nil {
				t.Fatal(err)
			}
			meta, _ := obj["metadata"].(map[string]any)
			if meta["namespace"] == nil {
				meta["namespace"] = "default"
			}
			if err := schemas.Check(t.Context(), obj); err != nil {
				t.Fatalf("the manifest is refused: %v", err)
			}
			defaulted, err := yaml.Marshal(obj)
			if err != nil {
				t.Fatal(err)
			}
			rsp := run(t, string(defaulted), nil, nil)
			if len(rsp.GetResults()) > 0 {
				t.Errorf("results are %v, want none", rsp.GetResults())
			}
			if len(rsp.GetDesired().GetResources()) == 0 {
				t.Error("nothing is composed")
			}
		})
	}
}

// cases are composites in states that matter.
func cases() map[string]struct {
	xr       string
	observed state
	required map[string]string
} {
	type c = struct {
		xr       string
		observed state
		required map[string]string
	}
	refs := map[string]string{"model": goodModel, "ingresses": ""}
	return map[string]c{
		"Model":         {model + "spec: {sourceUrl: hf://org/tiny, objectStorage: {endpoint: http://h:9000, secretRef: {name: s}}}\n", nil, map[string]string{"ingresses": ""}},
		"ModelInherits": {model + tiny, nil, map[string]string{"ingresses": "metadata: {name: i, namespace: ns}\nspec: {backend: {nats: {url: 'nats://u:p@h:4222'}}}"}},
		"Group":         {dllama + "spec: {rootImage: dllama, replicaPower: 3, modelRef: {name: m}, expose: {}}\n", state{"bucket": ready, "runners": ready}, refs},
		"Session":       {session + "spec: {modelRef: {name: m}, scaling: {minDllamas: 3}}\n", queue(nil), map[string]string{"ingresses": ""}},
		"Ingress":       {ingress0 + "spec: {backend: {hashSecret: s, nats: {url: 'nats://u:p@h:4222'}}, route: {host: h, tls: [{secretName: t}]}}\n", queue(nil), nil},
		"Worker":        {worker + "spec: {image: dllama, replicas: 3}\n", nil, nil},
		"Root":          {root + "spec: {modelRef: claim, image: dllama, workers: ['10.0.0.1:9999']}\n", nil, nil},
	}
}

// TestClaimsComposeTheSame compares a namespaced composite with what Crossplane
// makes of a claim: the same objects, down to the last byte.
func TestClaimsComposeTheSame(t *testing.T) {
	for name, c := range cases() {
		t.Run(name, func(t *testing.T) {
			namespaced := run(t, c.xr, c.observed, c.required)
			var obj map[string]any
			if err := yaml.Unmarshal([]byte(c.xr), &obj); err != nil {
				t.Fatal(err)
			}
			meta, _ := obj["metadata"].(map[string]any)
			spec, _ := obj["spec"].(map[string]any)
			kind, _ := obj["kind"].(string)
			spec["claimRef"] = map[string]any{"apiVersion": obj["apiVersion"], "kind": kind, "namespace": meta["namespace"], "name": meta["name"]}
			obj["kind"], obj["metadata"] = "X"+kind, map[string]any{"name": "anything-x7k2p"}
			legacy, err := yaml.Marshal(obj)
			if err != nil {
				t.Fatal(err)
			}
			claimed := run(t, string(legacy), c.observed, c.required)
			if diff := cmp.Diff(namespaced.GetDesired().GetResources(), claimed.GetDesired().GetResources(), protocmp.Transform()); diff != "" {
				t.Errorf("a claim composes something else (-namespaced +claim):\n%s", diff)
			}
			if got := claimed.GetDesired().GetComposite().GetResource().GetFields()["kind"].GetStringValue(); got != "X"+kind {
				t.Errorf("the status is of kind %q, want X%s", got, kind)
			}
		})
	}
}

func TestSameQuestionSameBytes(t *testing.T) {
	for name, c := range cases() {
		t.Run(name, func(t *testing.T) {
			var first []byte
			for range 8 {
				raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(run(t, c.xr, c.observed, c.required))
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = raw
				}
				if string(first) != string(raw) {
					t.Fatal("the same question has two answers")
				}
			}
		})
	}
}

// TestNothingIsTakenAway composes what runs while a reference cannot be read.
func TestNothingIsTakenAway(t *testing.T) {
	served := "status: {artifact: {model: ns/m, url: s3://koldun-models/converted/x, bucket: koldun-models, modelFile: a.m, tokenizerFile: a.t, weights: q40, sizeBytes: 1, size: 1 B}}\n"
	running := state{"bucket": ready, "runners": ready, "root": "status: {readyReplicas: 1}"}
	cases := map[string]struct {
		xr       string
		observed state
		required map[string]string
		want     []string
	}{
		"ModelGone":         {dllama + "spec: {modelRef: {name: m}}\n" + served, running, map[string]string{"model": ""}, []string{"root", "runners", "bucket"}},
		"ModelUnread":       {dllama + "spec: {modelRef: {name: m}}\n" + served, running, nil, []string{"root", "runners", "bucket"}},
		"ConnectionUnready": {dllama + "spec: {modelRef: {name: m}}\n", state{"root": "{}", "bucket": "{}", "runners": "{}"}, map[string]string{"model": goodModel}, []string{"root"}},
		"QueueUnready":      {ingress, state{"gateway": "{}", "dispatcher": "{}"}, nil, []string{"gateway", "dispatcher"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			desired := run(t, c.xr, c.observed, c.required).GetDesired().GetResources()
			for _, res := range c.want {
				if desired[res] == nil {
					t.Errorf("%q is taken away", res)
				}
			}
		})
	}
}

// A Session does not count members that were drained: their Dllamas go.
func TestSessionCountsItsMembers(t *testing.T) {
	pool := "status: {conditions: [{type: Ready, status: 'True'}], atProvider: {members: [{name: '0', phase: Drained, ready: true}, {name: '10', phase: Draining, ready: true, readyWorkers: 3}, {name: '2', phase: Active}]}}"
	rsp := run(t, session+"spec: {modelRef: {name: m}}\n", state{"pool": pool}, nil)
	status := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().AsMap()
	for field, want := range map[string]float64{"dllamas": 2, "readyDllamas": 1, "readyWorkers": 3} {
		if status[field] != want {
			t.Errorf("%s is %v, want %v", field, status[field], want)
		}
	}
	workers, _ := status["workers"].([]any)
	var phases []string
	for _, w := range workers {
		w, _ := w.(map[string]any)
		phases = append(phases, fmt.Sprint(w["name"], " ", w["phase"]))
	}
	if want := []string{"s-2 Pending", "s-10 Terminating"}; !slices.Equal(phases, want) {
		t.Errorf("members are %q, want %q", phases, want)
	}
}

// What an Ingress composes does not grow with what is asked for, and so neither
// does what Crossplane lets happen to it.
func TestDemandComposesNothingMore(t *testing.T) {
	none, many := settled(t, ingressOf(t, 0)), settled(t, ingressOf(t, 64))
	if len(none) != len(many) {
		t.Errorf("an Ingress with 64 pools composes %d objects, and one without %d", len(many), len(none))
	}
	none, many = settled(t, sessionOf(t, 0)), settled(t, sessionOf(t, 64))
	if len(none) != len(many) {
		t.Errorf("a Session with 64 members composes %d objects, and one without %d", len(many), len(none))
	}
}

// settled are the objects that are composed in answer to a request.
func settled(t *testing.T, req *fnv1.RunFunctionRequest) map[string]*fnv1.Resource {
	t.Helper()
	rsp, err := router.New(compose.Config{Image: "koldun", Trusted: true}).RunFunction(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return rsp.GetDesired().GetResources()
}

// TestKindsComeAfterWhatTheyRead checks the order in which local mode composes.
func TestKindsComeAfterWhatTheyRead(t *testing.T) {
	kinds := router.Kinds()
	reads := map[string][]string{"Model": nil, "ModelDownload": nil, "Worker": nil, "Root": {"Worker"}, "Ingress": nil, "Session": {"Model"}, "Dllama": {"Model", "Ingress"}, "AutoNodeLabeler": nil, "ModelOrchestra": {"Model", "Dllama", "Session", "Ingress"},
		"AIModelMap": nil, "AIDeployment": {"Dllama"}}
	if len(kinds) != len(reads) {
		t.Errorf("got kinds %v, want %d", kinds, len(reads))
	}
	for kind, before := range reads {
		at := slices.Index(kinds, kind)
		if at < 0 {
			t.Errorf("kind %s is not composed", kind)
		}
		for _, b := range before {
			if slices.Index(kinds, b) > at {
				t.Errorf("%s comes before %s, whose status it reads", kind, b)
			}
		}
	}
}

func TestUnknownKindIsFatal(t *testing.T) {
	for name, xr := range map[string]string{
		"Kind":    "apiVersion: koldun.gorizond.io/v1\nkind: Lama\nmetadata: {name: a, namespace: b}\nspec: {}",
		"Group":   "apiVersion: example.org/v1\nkind: Model\nmetadata: {name: a, namespace: b}\nspec: {}",
		"NoClaim": "apiVersion: koldun.gorizond.io/v1\nkind: XModel\nmetadata: {name: a}\nspec: {}",
	} {
		t.Run(name, func(t *testing.T) {
			results := run(t, xr, nil, nil).GetResults()
			if len(results) != 1 || results[0].GetSeverity() != fnv1.Severity_SEVERITY_FATAL {
				t.Errorf("results are %v, want one that is fatal", results)
			}
		})
	}
}

func BenchmarkIngress(b *testing.B) {
	for _, n := range []int{16, 64} {
		b.Run(size(n), func(b *testing.B) { bench(b, ingressOf(b, n)) })
	}
}

func BenchmarkSession(b *testing.B) {
	for _, n := range []int{16, 64} {
		b.Run(size(n), func(b *testing.B) { bench(b, sessionOf(b, n)) })
	}
}

func bench(b *testing.B, req *fnv1.RunFunctionRequest) {
	b.Helper()
	f := router.New(compose.Config{Image: "koldun", Trusted: true})
	b.ReportAllocs()
	for b.Loop() {
		rsp, err := f.RunFunction(b.Context(), req)
		if err != nil || len(rsp.GetResults()) > 0 {
			b.Fatalf("cannot compose: %v %v", err, rsp.GetResults())
		}
	}
}

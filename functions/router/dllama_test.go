package router_test

import (
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/router"
)

// llama8B is Llama 3.1 8B.
const llama8B = "shape: {arch: llama, dim: 4096, hiddenDim: 14336, layers: 32, heads: 32, kvHeads: 8, headDim: 128, vocabSize: 128256, seqLen: 131072, weights: q40}"

// TestMemoryPlan compares with what distributed-llama prints for Llama 3.1 8B
// on 4 nodes at 4096 tokens: 3312 MB for the root, 1344 MB for a worker.
func TestMemoryPlan(t *testing.T) {
	required := map[string]string{"model": strings.Replace(goodModel, "size: 1 B", "size: 1 B, "+llama8B, 1)}
	rsp := run(t, dllama+"spec: {nodes: 4, rootImage: dllama, modelRef: {name: m}}\n", state{"bucket": ready, "runners": ready}, required)
	status := rsp.GetDesired().GetComposite().GetResource().GetFields()["status"].GetStructValue().GetFields()
	root, worker := int64(status["rootMemoryBytes"].GetNumberValue())>>20, int64(status["workerMemoryBytes"].GetNumberValue())>>20
	if root != 3312 || worker != 1344 {
		t.Errorf("the plan is %d MiB for the root and %d MiB for a worker, want 3312 and 1344", root, worker)
	}
	for res, container := range map[string]string{"root": "engine", "workers": "worker"} {
		template := rsp.GetDesired().GetResources()[res].GetResource().GetFields()["spec"].GetStructValue().GetFields()["template"].GetStructValue()
		if plan := at(template, "metadata", "annotations", "koldun.gorizond.io/memory-plan").GetStringValue(); !strings.Contains(plan, "nodes=4") {
			t.Errorf("the annotation of %s is %q", res, plan)
		}
		if at(template, "metadata", "annotations", "koldun.gorizond.io/group").GetStringValue() == "" {
			t.Errorf("%s is not bound to its group", res)
		}
		for _, c := range at(template, "spec", "containers").GetListValue().GetValues() {
			probe := at(c.GetStructValue(), "readinessProbe", "httpGet", "port").GetStringValue()
			if probe == "engine" {
				t.Errorf("container %s of %s is probed on the engine's port", at(c.GetStructValue(), "name").GetStringValue(), res)
			}
			if at(c.GetStructValue(), "name").GetStringValue() != container {
				continue
			}
			limit, request := at(c.GetStructValue(), "resources", "limits", "memory").GetStringValue(), at(c.GetStructValue(), "resources", "requests", "memory").GetStringValue()
			if limit == "" || limit != request {
				t.Errorf("%s asks for %q of memory, limit %q", res, request, limit)
			}
		}
	}
}

// TestStrangersPoolIsNotJoined gives a Dllama the key of another model's pool.
func TestStrangersPoolIsNotJoined(t *testing.T) {
	for key, want := range map[string]string{"other_m": "ns_m", "ns_m_0123456789abcdef": "ns_m_0123456789abcdef", "ns_m_x": "ns_m"} {
		xr := strings.Replace(dllama, "namespace: ns", "namespace: ns, annotations: {koldun.gorizond.io/session-key: '"+key+"'}", 1)
		rsp := run(t, xr+"spec: {modelRef: {name: m}}\n", state{"bucket": ready, "runners": ready}, map[string]string{"model": goodModel})
		if text := rsp.GetDesired().GetResources()["root"].String(); !strings.Contains(text, `"--session=`+want+`"`) {
			t.Errorf("key %q: the sidecar does not serve %q", key, want)
		}
	}
}

// TestForeignModelHasAPoolOfItsOwn gives a Dllama a Model of another namespace:
// the Dllama must serve requests of its own namespace, and none of the Model's.
func TestForeignModelHasAPoolOfItsOwn(t *testing.T) {
	xr := dllama + "spec: {modelRef: {name: m, namespace: other}}\n"
	required := map[string]string{"model": strings.Replace(goodModel, "namespace: ns}", "namespace: other}, spec: {allowedNamespaces: [ns]}", 1), "namesake": ""}
	desired := run(t, xr, state{"bucket": ready, "runners": ready, "record": ready}, required).GetDesired().GetResources()
	for _, arg := range []string{`"--session=ns_m"`, `"--model=ns/m"`} {
		if text := desired["root"].String(); !strings.Contains(text, arg) {
			t.Errorf("the sidecar does not have the argument %s: %s", arg, text)
		}
	}
	record := at(desired["record"].GetResource(), "spec", "forProvider").GetStructValue().AsMap()
	if record["namespace"] != "ns" || record["name"] != "m" || record["artifactUrl"] != "s3://koldun-models/converted/x" {
		t.Errorf("the model is listed as %v", record)
	}
	required["namesake"] = goodModel
	rsp := run(t, xr, nil, required)
	if _, served := rsp.GetDesired().GetResources()["root"]; served || rsp.GetConditions()[0].GetReason() != string(reason.ModelFailed) {
		t.Errorf("a Model of the same name is in the namespace, and the conditions are %v", rsp.GetConditions())
	}
}

// TestRefusedClaimKeepsNoGrant has a claim that the platform refuses, and which keeps what
// runs for that, serve a Model whose owner has withdrawn the grant.
func TestRefusedClaimKeepsNoGrant(t *testing.T) {
	xr := dllama + "spec: {modelRef: {name: m, namespace: other}, rootImage: evil/x}\n"
	for grant, want := range map[string]bool{"ns": true, "another": false} {
		req := &fnv1.RunFunctionRequest{
			Observed: &fnv1.State{Composite: object(t, xr), Resources: map[string]*fnv1.Resource{"root": object(t, ready), "bucket": object(t, ready)}},
			RequiredResources: map[string]*fnv1.Resources{"platform": {}, "model": {Items: []*fnv1.Resource{
				object(t, strings.Replace(goodModel, "namespace: ns}", "namespace: other}, spec: {allowedNamespaces: ["+grant+"]}", 1)),
			}}},
		}
		rsp, err := router.New(compose.Config{Image: "koldun"}).RunFunction(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(rsp.GetDesired().GetResources()); (n == 2) != want || !want && n != 0 {
			t.Errorf("granted to %s: it keeps %d resources", grant, n)
		}
	}
}

func at(s *structpb.Struct, path ...string) *structpb.Value {
	v := structpb.NewStructValue(s)
	for _, p := range path {
		v = v.GetStructValue().GetFields()[p]
	}
	return v
}

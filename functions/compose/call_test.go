package compose_test

import (
	"slices"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/protobuf/types/known/structpb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
)

func object(t *testing.T, manifest string) *fnv1.Resource {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	s := &structpb.Struct{}
	if err := s.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return &fnv1.Resource{Resource: s}
}

const worker = "apiVersion: koldun.gorizond.io/v1\nkind: Worker\n"

// call begins a call for a Worker with composed resources.
func call(t *testing.T, composite string, observed map[string]string) (*compose.Call, *fnv1.RunFunctionResponse) {
	t.Helper()
	req := &fnv1.RunFunctionRequest{Observed: &fnv1.State{Composite: object(t, worker+composite), Resources: map[string]*fnv1.Resource{}}}
	for name, manifest := range observed {
		req.Observed.Resources[name] = object(t, manifest)
	}
	rsp := &fnv1.RunFunctionResponse{}
	return compose.New(compose.Config{Image: "i"}, req, rsp), rsp
}

func TestComposite(t *testing.T) {
	for name, c := range map[string]struct {
		manifest, namespace, name string // empty: an error
		clusterScoped             bool
	}{
		"Namespaced": {"metadata: {name: a, namespace: ns}", "ns", "a", false},
		"Claim":      {"metadata: {name: a-x7k}\nspec: {claimRef: {name: a, namespace: ns}}", "ns", "a", true},
		"NoClaim":    {"metadata: {name: a}", "", "", true},
		"HalfAClaim": {"metadata: {name: a}\nspec: {claimRef: {name: a}}", "", "", true},
		"NamelessIn": {"metadata: {name: a}\nspec: {claimRef: {namespace: ns}}", "", "", true},
		"NoObject":   {"metadata: {name: 1, namespace: ns}", "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := call(t, c.manifest, nil)
			var w v1.Worker
			err := p.Composite(&w)
			if (err != nil) != (c.name == "") || err == nil && (w.Namespace != c.namespace || w.Name != c.name) {
				t.Errorf("got %q/%q, %v, want %q/%q", w.Namespace, w.Name, err, c.namespace, c.name)
			}
			if p.ClusterScoped() != c.clusterScoped {
				t.Errorf("cluster-scoped is %v", p.ClusterScoped())
			}
		})
	}
}

func TestClusterComposite(t *testing.T) {
	for name, c := range map[string]struct {
		manifest string
		valid    bool
	}{
		"ClusterScoped": {"metadata: {name: a}", true},
		"Namespaced":    {"metadata: {name: a, namespace: ns}", false},
		"NoObject":      {"metadata: {name: 1}", false},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := call(t, c.manifest, nil)
			var w v1.Worker
			if err := p.ClusterComposite(&w); (err == nil) != c.valid || c.valid && w.Name != "a" {
				t.Errorf("got %q, %v", w.Name, err)
			}
		})
	}
}

func TestObserved(t *testing.T) {
	p, _ := call(t, "metadata: {name: a, namespace: ns}", map[string]string{
		"old":  "metadata: {generation: 2}\nstatus: {readyReplicas: 3, observedGeneration: 1}",
		"new":  "metadata: {generation: 2}\nstatus: {readyReplicas: 3, observedGeneration: 2, conditions: [{type: A, status: 'False'}, {type: Ready, status: 'True', reason: R, message: M}]}",
		"bad":  "metadata: {name: 1}",
		"none": "{}",
	})
	var w v1.Worker
	if !p.Observed("new", &w) || w.Generation != 2 || p.Observed("bad", &w) || p.Observed("absent", &w) {
		t.Error("wrong about what is observed")
	}
	if !p.Exists("bad") || p.Exists("absent") {
		t.Error("wrong about what exists")
	}
	if p.ReadyReplicas("old") != 0 || p.ReadyReplicas("new") != 3 || p.ReadyReplicas("absent") != 0 {
		t.Error("wrong about ready replicas")
	}
	if p.ReadyPods("old") != 3 || p.ReadyPods("absent") != 0 {
		t.Error("wrong about ready pods")
	}
	want := metav1.Condition{Type: "Ready", Status: "True", Reason: "R", Message: "M"}
	if got := p.Condition("new", "Ready"); got != want || p.Condition("new", "B").Type != "" || p.Condition("absent", "Ready").Type != "" {
		t.Errorf("the condition is %+v", got)
	}
	found := slices.Sorted(p.Resources("n"))
	if !slices.Equal(found, []string{"new", "none"}) {
		t.Errorf("resources with the prefix are %q", found)
	}
	for range p.Resources("n") {
		break
	}
}

func TestDesire(t *testing.T) {
	p, rsp := call(t, "metadata: {name: a, namespace: ns}", nil)
	if err := p.Desire("pod", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Status: corev1.PodStatus{Phase: "Running"}}, compose.Ready); err != nil {
		t.Fatal(err)
	}
	if err := p.Desire("free", &unstructured.Unstructured{Object: map[string]any{"a": int64(1)}}, compose.NotReady); err != nil {
		t.Fatal(err)
	}
	pod, free := rsp.GetDesired().GetResources()["pod"], rsp.GetDesired().GetResources()["free"]
	if pod.GetReady() != fnv1.Ready_READY_TRUE || pod.GetResource().GetFields()["status"] != nil || pod.GetResource().GetFields()["metadata"] == nil {
		t.Errorf("the pod is desired as %v", pod)
	}
	if free.GetReady() != fnv1.Ready_READY_FALSE || free.GetResource().GetFields()["a"].GetNumberValue() != 1 {
		t.Errorf("the unstructured object is desired as %v", free)
	}
	for name, bad := range map[string]any{"list": []string{"a"}, "channel": map[string]any{"a": make(chan int)}} {
		if err := p.Desire(name, bad, compose.Ready); err == nil || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("%s is desired with %v", name, err)
		}
	}
}

func TestRequire(t *testing.T) {
	req := &fnv1.RunFunctionRequest{
		Observed: &fnv1.State{Composite: object(t, worker)},
		RequiredResources: map[string]*fnv1.Resources{
			"found": {Items: []*fnv1.Resource{object(t, "metadata: {name: b}"), object(t, "metadata: {name: c}")}},
			"none":  {},
			"bad":   {Items: []*fnv1.Resource{object(t, "metadata: {name: 1}")}},
		},
	}
	rsp := &fnv1.RunFunctionResponse{}
	p := compose.New(compose.Config{}, req, rsp)
	for key, want := range map[string][2]bool{"found": {true, true}, "none": {false, true}, "bad": {false, true}, "unknown": {false, false}} {
		found, known := p.Require(key, "v1", "Worker", "ns", "b", &v1.Worker{})
		if found != want[0] || known != want[1] {
			t.Errorf("%s is found %v, known %v, want %v", key, found, known, want)
		}
	}
	s := rsp.GetRequirements().GetResources()["found"]
	if s.GetMatchName() != "b" || s.GetNamespace() != "ns" || s.GetKind() != "Worker" || s.GetApiVersion() != "v1" {
		t.Errorf("the requirement is %v", s)
	}
	var names []string
	var all []*v1.Worker
	known := p.RequireAll("found", "v1", "Worker", "ns", map[string]string{"a": "b"}, func() any {
		all = append(all, &v1.Worker{})
		return all[len(all)-1]
	})
	for _, w := range all {
		names = append(names, w.Name)
	}
	if s := rsp.GetRequirements().GetResources()["found"]; !known || !slices.Equal(names, []string{"b", "c"}) || s.GetMatchLabels().GetLabels()["a"] != "b" {
		t.Errorf("found %q, known %v, by %v", names, known, s)
	}
	if p.RequireAll("unknown", "v1", "Worker", "ns", nil, nil) {
		t.Error("what Crossplane has not looked for is known")
	}
}

func TestLegacy(t *testing.T) {
	condition := func(composite string, given map[string]bool) *fnv1.Condition {
		p, rsp := call(t, composite, nil)
		p.Legacy(given)
		if len(rsp.GetConditions()) == 0 {
			return nil
		}
		return rsp.GetConditions()[0]
	}
	before := "status: {conditions: [{type: LegacyFields, status: 'True'}]}"
	if got := condition("", map[string]bool{"spec.b": true, "spec.a": true, "spec.c": false}); got.GetReason() != string(reason.FieldsIgnored) || !strings.HasSuffix(got.GetMessage(), ": spec.a, spec.b") {
		t.Errorf("got %v", got)
	}
	if got := condition(before, map[string]bool{"spec.c": false}); got.GetReason() != string(reason.FieldsUsed) {
		t.Errorf("got %v", got)
	}
	if got := condition("", nil); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestTemplate(t *testing.T) {
	spec := map[string]any{"b": 1, "a": "x", "engine": map[string]any{}, "modelRef": map[string]any{"name": "m"}}
	got, err := compose.Template(map[string]string{"l": "1"}, map[string]string{"n": "2"}, spec, "modelRef")
	if err != nil || string(got.Spec.Raw) != `{"a":"x","b":1}` || got.Labels["l"] != "1" || got.Annotations["n"] != "2" {
		t.Errorf("the template is %+v, %v", got, err)
	}
	for _, bad := range []any{make(chan int), []int{1}} {
		if _, err := compose.Template(nil, nil, bad); err == nil {
			t.Errorf("a template of %T is made", bad)
		}
	}
}

func TestReleaseImage(t *testing.T) {
	if got, want := compose.ReleaseImage("v1.2.3"), "ghcr.io/gorizond/koldun:v1.2.3"; got != want {
		t.Errorf("the image is %q, want %q", got, want)
	}
}

func TestThreads(t *testing.T) {
	for name, c := range map[string]struct {
		cores   int
		claimed int32
		nodes   int
		want    int32
	}{
		"OwnMachines":  {0, 8, 4, 8},
		"None":         {0, 0, 1, 1},
		"Share":        {8, 8, 4, 2},
		"Fewer":        {8, 1, 4, 1},
		"TooManyNodes": {2, 4, 8, 1},
		"Alone":        {8, 16, 1, 8},
		"NoNodes":      {8, 4, 0, 4},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (compose.Config{Cores: c.cores}).Threads(c.claimed, c.nodes); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

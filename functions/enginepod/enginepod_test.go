package enginepod_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/functions/enginepod"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
)

// toy is an engine that is supervised, has folders, and takes four requests.
func toy() engine.Engine {
	return engine.Engine{
		Name: "toy", Slots: 4, Process: &engine.Process{},
		Root: func(r engine.Root) engine.Pod {
			return engine.Pod{
				Init:    []engine.Container{{Name: "prepare", Image: r.Koldun, Env: map[string]string{"A": "b"}, Volumes: []string{"scratch"}}},
				Main:    engine.Container{Name: "engine", Image: r.Image, Args: []string{r.ModelFile, r.TokenizerFile}},
				Folders: map[string]string{"scratch": "/scratch"},
			}
		},
		Worker: func(w engine.Worker) engine.Pod {
			return engine.Pod{Main: engine.Container{Name: "worker", Image: w.Image, Command: []string{"run"}, ProbePort: engine.PortHealth}}
		},
	}
}

func TestRoot(t *testing.T) {
	spec := engine.Root{Node: engine.Node{Image: "i", Koldun: "k"}, ModelFile: "m.m", TokenizerFile: "/abs/t.t"}
	root := enginepod.Root{Engine: toy(), Spec: spec, Fetch: "s3://b/x", FetchSecret: "store", Session: "ns_m", Model: "ns/m", BusSecret: "bus"}
	root.Labels = map[string]string{"a": "b"}
	want := workload.Pod{
		Labels: map[string]string{"a": "b"},
		Init: []workload.Container{
			{Name: "fetch", Image: "k", Args: []string{"fetch", "--from=s3://b/x", "--to=$(KOLDUN_DIR_MODEL)"}, Secrets: []string{"store"}},
			{Name: "prepare", Image: "k", Env: map[string]string{"A": "b"}, Folders: []string{"scratch"}},
		},
		Containers: []workload.Container{
			{Name: "engine", Image: "i", Args: []string{"$(KOLDUN_DIR_MODEL)/m.m", "/abs/t.t"}},
			{Name: "llm", Image: "k", Secrets: []string{"bus"}, ProbePort: "llm", Args: []string{
				"llm", "--listen=:$(KOLDUN_PORT_LLM)", "--engine=http://127.0.0.1:$(KOLDUN_PORT_ENGINE)", "--session=ns_m",
				"--runner=$(POD_NAMESPACE)_$(POD_NAME)", "--model=ns/m", "--supervisor=http://127.0.0.1:$(KOLDUN_PORT_ENGINE_HEALTH)", "--slots=4",
			}},
		},
		Ports:        map[string]int32{"engine": 9990, "engine-health": 9991, "llm": 8081},
		Volumes:      map[string]string{"model": "/model", "scratch": "/scratch"},
		GraceSeconds: 120,
	}
	if d := cmp.Diff(want, root.Pod()); d != "" {
		t.Errorf("the root differs (-want +got):\n%s", d)
	}
}

func TestRootWithoutSidecar(t *testing.T) {
	e := toy()
	e.Slots, e.Process = 1, nil
	root := enginepod.Root{Engine: e, Claim: "claim"}
	pod := root.Pod()
	if d := cmp.Diff(map[string]workload.Claim{"model": {Name: "claim", ReadOnly: true}}, pod.Claims); d != "" {
		t.Error(d)
	}
	if _, listens := pod.Ports["llm"]; listens || len(pod.Containers) != 1 || len(pod.Init) != 1 {
		t.Errorf("the pod is %+v", pod)
	}
	root.Session = "s"
	args := root.Pod().Containers[1].Args
	if slices.Contains(args, "--slots=1") || len(args) != 6 {
		t.Errorf("the sidecar of an engine with one slot and no supervisor has %q", args)
	}
}

func TestWorker(t *testing.T) {
	pod := enginepod.Worker{Engine: toy(), Spec: engine.Worker{Node: engine.Node{Image: "i"}}}.Pod()
	want := workload.Pod{
		Containers:   []workload.Container{{Name: "worker", Image: "i", Command: []string{"run"}, ProbePort: "engine-health"}},
		Ports:        map[string]int32{"engine": 9990, "engine-health": 9991},
		Volumes:      map[string]string{},
		GraceSeconds: 150,
	}
	if d := cmp.Diff(want, pod); d != "" {
		t.Errorf("the worker differs (-want +got):\n%s", d)
	}
}

func TestAddresses(t *testing.T) {
	want := []string{"w-0.w.ns.svc:9990", "w-1.w.ns.svc:9990"}
	if d := cmp.Diff(want, enginepod.Addresses("ns", "w", 2, 9990)); d != "" {
		t.Error(d)
	}
}

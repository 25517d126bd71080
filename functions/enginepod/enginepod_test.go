package enginepod_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/enginepod"
	"github.com/gorizond/koldun/functions/memory"
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
	root := enginepod.Root{Engine: toy(), Spec: spec, Session: "ns_m", Model: "ns/m", BusSecret: "bus"}
	root.Labels = map[string]string{"a": "b"}
	root.Files = enginepod.Files{Fetch: "s3://b/x", FetchSecret: "store"}
	want := workload.Pod{
		Labels: map[string]string{"a": "b"},
		Init: []workload.Container{
			{Name: "fetch", Image: "k", Args: []string{"fetch", "--from=s3://b/x", "--to=$(KOLDUN_DIR_MODEL)", "--metrics-listen=:$(KOLDUN_PORT_ENGINE_HEALTH)"}, Secrets: []string{"store"}, Memory: memory.Fetch(0, 0), Request: memory.Fetch(0, 0)},
			{Name: "prepare", Image: "k", Env: map[string]string{"A": "b"}, Folders: []string{"scratch"}},
		},
		Containers: []workload.Container{
			{Name: "engine", Image: "i", Args: []string{"$(KOLDUN_DIR_MODEL)/m.m", "/abs/t.t"}},
			{Name: "llm", Image: "k", Secrets: []string{"bus"}, ProbePort: "llm", Memory: memory.Sidecar(4, false), Request: memory.Usual, Args: []string{
				"llm", "--listen=:$(KOLDUN_PORT_LLM)", "--engine=http://127.0.0.1:$(KOLDUN_PORT_ENGINE)", "--session=ns_m",
				"--runner=$(POD_NAMESPACE)_$(POD_NAME)", "--model=ns/m", "--supervisor=http://127.0.0.1:$(KOLDUN_PORT_ENGINE_HEALTH)", "--slots=4",
			}},
		},
		Ports:        map[string]int32{"engine": 9990, "engine-health": 9991, "llm": 8081},
		Volumes:      map[string]string{"model": "/model", "scratch": "/scratch"},
		Sources:      map[string]corev1.VolumeSource{},
		GraceSeconds: 120,
	}
	if d := cmp.Diff(want, root.Pod()); d != "" {
		t.Errorf("the root differs (-want +got):\n%s", d)
	}
}

func TestRootWithoutSidecar(t *testing.T) {
	e := toy()
	e.Slots, e.Process = 1, nil
	root := enginepod.Root{Engine: e}
	root.Claim = "claim"
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
		Sources:      map[string]corev1.VolumeSource{},
		GraceSeconds: 150,
	}
	if d := cmp.Diff(want, pod); d != "" {
		t.Errorf("the worker differs (-want +got):\n%s", d)
	}
}

// When answers may take longer, all of the topology waits for them, and the workers
// outlive their root.
func TestGrace(t *testing.T) {
	for grace, want := range map[time.Duration]struct {
		extra        time.Duration
		root, worker int64
	}{
		10 * time.Second: {0, 120, 150},
		25 * time.Second: {0, 120, 150},
		time.Hour:        {time.Hour - 25*time.Second, 3695, 3725},
	} {
		var told []time.Duration
		e := toy()
		e.Root = func(r engine.Root) engine.Pod {
			told = append(told, r.ExtraGrace)
			return engine.Pod{}
		}
		e.Worker = func(w engine.Worker) engine.Pod {
			told = append(told, w.ExtraGrace)
			return engine.Pod{}
		}
		limits := &v1.AnswerTimeouts{Grace: &metav1.Duration{Duration: grace}}
		root := enginepod.Root{Engine: e, Session: "s", Timeouts: limits}.Pod()
		worker := enginepod.Worker{Engine: e, Timeouts: limits}.Pod()
		if root.GraceSeconds != want.root || worker.GraceSeconds != want.worker || !slices.Equal(told, []time.Duration{want.extra, want.extra}) {
			t.Errorf("a grace of %v: the root has %d s, the worker %d s, and their engines %v more, want %+v", grace, root.GraceSeconds, worker.GraceSeconds, told, want)
		}
	}
}

func TestWorkerReadsFiles(t *testing.T) {
	var got []string
	e := toy()
	e.Worker = func(w engine.Worker) engine.Pod {
		got = append(got, w.ModelFile)
		return engine.Pod{}
	}
	w := enginepod.Worker{Engine: e, Spec: engine.Worker{ModelFile: "m.m"}}
	for _, files := range []enginepod.Files{{}, {Fetch: "s3://b/x"}, {Claim: "c"}} {
		w.Files = files
		w.Pod()
	}
	want := []string{"m.m", "$(KOLDUN_DIR_MODEL)/m.m", "$(KOLDUN_DIR_MODEL)/m.m"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the model's files differ without files, fetched and in a volume (-want +got):\n%s", d)
	}
}

func TestMemberOfAGroup(t *testing.T) {
	root := enginepod.Root{Engine: toy(), Session: "s", Model: "ns/m", Member: "canary"}
	if args := root.Pod().Containers[1].Args; !slices.Contains(args, "--group=canary") {
		t.Errorf("the sidecar has %q, want its group", args)
	}
}

func TestAddresses(t *testing.T) {
	want := []string{"w-0.w.ns.svc:9990", "w-1.w.ns.svc:9990"}
	if d := cmp.Diff(want, enginepod.Addresses("ns", "w", 2, 9990)); d != "" {
		t.Error(d)
	}
}

// serving is a server with a path of its own for its cache, and shared memory.
func serving(url string) engine.Engine {
	return engine.Engine{
		Name: "serving", Slots: 1, Parameters: []string{"seed", "top_p"},
		API: &engine.API{
			URL: url, Operations: []string{"chat"}, ServedName: func(path, model string) string { return path + " of " + model },
		},
		Root: func(r engine.Root) engine.Pod {
			if url != "" {
				return engine.Pod{Ports: map[string]int32{}}
			}
			return engine.Pod{
				Init:    []engine.Container{{Name: "prepare", Image: r.Image}},
				Main:    engine.Container{Name: "engine", Image: r.Image, Startup: time.Minute, User: new(int64)},
				Folders: map[string]string{"cache": "/cache", "shm": "/dev/shm"},
				Memory:  map[string]string{"shm": "1Gi"},
				Ports:   map[string]int32{"engine": 8000},
			}
		},
	}
}

func TestServer(t *testing.T) {
	root := enginepod.Root{Engine: serving(""), Spec: engine.Root{Node: engine.Node{Image: "i", Koldun: "k"}}, Session: "s", Model: "ns/m", BusSecret: "bus"}
	root.Files = enginepod.Files{Fetch: "s3://b/x", FetchSecret: "store"}
	root.EngineEnv = []corev1.EnvVar{{Name: "A", Value: "b"}}
	root.Cache = &corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "kept"}}
	limit := resource.MustParse("1Gi")
	want := workload.Pod{
		Init: []workload.Container{
			{Name: "fetch", Image: "k", Args: []string{"fetch", "--from=s3://b/x", "--to=$(KOLDUN_DIR_MODEL)"}, Secrets: []string{"store"}, Folders: []string{"model"}, Memory: memory.Fetch(0, 0), Request: memory.Fetch(0, 0)},
			{Name: "prepare", Image: "i", Vars: root.EngineEnv},
		},
		Containers: []workload.Container{
			{Name: "engine", Image: "i", Vars: root.EngineEnv, SidecarPort: "llm", Startup: time.Minute, User: new(int64)},
			{Name: "llm", Image: "k", Secrets: []string{"bus"}, ProbePort: "llm", Memory: memory.Sidecar(1, true), Request: memory.Usual, Folders: []string{"model", "api-key"}, Args: []string{
				"llm", "--listen=:$(KOLDUN_PORT_LLM)", "--protocol=openai", "--engine=http://127.0.0.1:$(KOLDUN_PORT_ENGINE)/v1", "--session=s",
				"--runner=$(POD_NAMESPACE)_$(POD_NAME)", "--model=ns/m", "--served-name=$(KOLDUN_DIR_MODEL) of ns/m", "--operations=chat", "--parameters=seed,top_p",
			}},
		},
		Ports:   map[string]int32{"engine": 8000, "llm": 8081},
		Volumes: map[string]string{"model": "/model", "cache": "/cache", "shm": "/dev/shm"},
		Sources: map[string]corev1.VolumeSource{
			"cache": *root.Cache,
			"shm":   {EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: &limit}},
		},
		GraceSeconds: 120,
	}
	pod := root.Pod()
	if d := cmp.Diff(want, pod); d != "" {
		t.Errorf("the root differs (-want +got):\n%s", d)
	}
	spec := pod.Template().Spec
	hook := spec.Containers[0].Lifecycle.PreStop.HTTPGet
	if hook.Path != "/drained" || hook.Port.IntVal != engine.SidecarNumber || spec.Containers[1].Lifecycle != nil {
		t.Errorf("the server stops after %+v", hook)
	}
}

// TestServerOutside holds that the key of a server reaches the sidecar as a file
// only.
func TestServerOutside(t *testing.T) {
	e := serving("https://api.example.com/v1")
	e.API.Features = []string{"tools", "logprobs"}
	root := enginepod.Root{Engine: e, Session: "s", Model: "ns/m", APIKey: &v1.SecretKeyReference{Name: "keys", Key: "token"}}
	pod := root.Pod()
	if len(pod.Containers) != 1 || len(pod.Init) != 0 {
		t.Fatalf("the pod has %+v and %+v", pod.Init, pod.Containers)
	}
	mode := int32(0o440)
	sources := map[string]corev1.VolumeSource{"api-key": {Secret: &corev1.SecretVolumeSource{SecretName: "keys", Items: []corev1.KeyToPath{{Key: "token", Path: "key"}}, DefaultMode: &mode}}}
	if d := cmp.Diff(sources, pod.Sources); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(map[string]int32{"llm": 8081}, pod.Ports); d != "" {
		t.Error(d)
	}
	args := pod.Containers[0].Args
	for _, want := range []string{"--engine=https://api.example.com/v1", "--api-key-file=$(KOLDUN_DIR_API_KEY)/key", "--features=tools,logprobs"} {
		if !slices.Contains(args, want) {
			t.Errorf("the sidecar has %q, want %q", args, want)
		}
	}
}

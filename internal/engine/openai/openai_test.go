package openai_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/openai"
	"github.com/gorizond/koldun/internal/fault"
)

func configured(t *testing.T, s engine.Server) engine.Engine {
	t.Helper()
	e, err := openai.Engine().Configured(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		server engine.Server
		says   string
	}{
		"Unknown":         {engine.Server{Profile: "tritan"}, `server.profile: "tritan" is not one of vllm, sglang, llama.cpp`},
		"Threads":         {engine.Server{Profile: "vllm", Threads: 2}, "threads: vllm"},
		"Context":         {engine.Server{Profile: "generic", SeqLen: 64}, "maxSeqLen: generic"},
		"ContextExternal": {engine.Server{Profile: "vllm", SeqLen: 64, URL: "http://h"}, "maxSeqLen: vllm"},
		"ThreadsExternal": {engine.Server{Profile: "llama.cpp", Threads: 2, URL: "http://h"}, "threads: llama.cpp"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openai.Engine().Configured(c.server)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Configured: %v, want it to say %q", err, c.says)
			}
		})
	}
}

// TestProfiles holds what every profile needs.
func TestProfiles(t *testing.T) {
	names := openai.Profiles()
	if n := len(names); len(slices.Compact(slices.Sorted(slices.Values(names)))) != n {
		t.Errorf("two profiles share a name: %q", names)
	}
	for _, name := range names {
		downloads := name != "triton" // which serves a model repository, and downloads none
		e := configured(t, engine.Server{Profile: name, Downloads: downloads, Model: "org/repo"})
		if e.Slots < 1 || len(e.API.Operations) == 0 || len(e.Parameters) == 0 || !e.Guarded || e.Memory != nil || (e.Reads == engine.FilesNone) != downloads {
			t.Errorf("profile %q is %+v", name, e)
		}
		if image := e.Image; image != "" && (strings.HasSuffix(image, ":latest") || !strings.Contains(image, ":")) {
			t.Errorf("profile %q has image %q, which is not pinned", name, image)
		}
		if l := e.API.Load; (l.Running == "") != (l.Waiting == "") || l.Known() != (l.Running != "") {
			t.Errorf("profile %q has the metrics %+v, want both or none", name, l)
		}
		if (e.Worker != nil) != e.Grouped || (e.Worker == nil) != (e.MaxNodes == 1) {
			t.Errorf("profile %q has %d nodes, a worker: %v", name, e.MaxNodes, e.Worker != nil)
		}
		pod := e.Root(engine.Root{Node: engine.Node{Image: "i"}, Nodes: 1})
		long := e.Root(engine.Root{Node: engine.Node{Image: "i"}, Nodes: 1, SeqLen: 4096}).Main
		if told := !slices.Equal(pod.Main.Args, long.Args) || !maps.Equal(pod.Main.Env, long.Env); told != e.API.Context {
			t.Errorf("the server of profile %q is told its context: %v, which the engine denies", name, told)
		}
		if pod.Main.ProbePort != "" || pod.Main.Image != "i" || pod.Folders["cache"] != "/cache" || pod.Folders["tmp"] != "/tmp" || pod.Main.Env["HOME"] != "$(KOLDUN_DIR_CACHE)" {
			t.Errorf("the pod of profile %q is %+v", name, pod)
		}
	}
}

func TestOverrides(t *testing.T) {
	user := int64(1000)
	e := configured(t, engine.Server{
		Profile: "vllm", Slots: 3, Operations: []string{"embedding"}, Parameters: []string{"seed"}, Features: []string{"dimensions"}, ServedName: "n",
		Command: []string{"run"}, Args: []string{"--last"}, Port: 8000, SharedMemory: "1Gi", Writable: []string{"/var/a", "/b"}, User: &user, Startup: time.Minute,
	})
	if e.Slots != 3 || e.API.ServedName("/model", "ns/m") != "n" || e.Reads != engine.FilesSource {
		t.Errorf("the engine is %+v", e)
	}
	if d := cmp.Diff([][]string{{"embedding"}, {"seed"}, {"dimensions"}}, [][]string{e.API.Operations, e.Parameters, e.API.Features}); d != "" {
		t.Error(d)
	}
	pod := e.Root(engine.Root{ModelFile: "/model", Nodes: 1})
	main := pod.Main
	if main.Args[len(main.Args)-1] != "--last" || main.Command[0] != "run" || *main.User != user || main.Startup != time.Minute {
		t.Errorf("the container is %+v", main)
	}
	if d := cmp.Diff(map[string]string{"cache": "/cache", "tmp": "/tmp", "shm": "/dev/shm", "writable-0": "/var/a", "writable-1": "/b"}, pod.Folders); d != "" {
		t.Error(d)
	}
	if pod.Memory["shm"] != "1Gi" || pod.Ports["engine"] != 8000 || len(pod.Ports) != 1 {
		t.Errorf("the pod is %+v", pod)
	}
}

func TestExternal(t *testing.T) {
	e := configured(t, engine.Server{Profile: "vllm", URL: "https://h/v1", Model: "their/name"})
	if e.Guarded || e.Grouped || e.Worker != nil || e.MaxNodes != 1 || e.Reads != engine.FilesNone || e.API.URL != "https://h/v1" {
		t.Errorf("the engine is %+v", e)
	}
	if got := e.API.ServedName("", "ns/m"); got != "their/name" {
		t.Errorf("the served name is %q", got)
	}
	if pod := e.Root(engine.Root{}); pod.Main.Name != "" || len(pod.Ports) != 0 || len(pod.Folders) != 0 {
		t.Errorf("the pod is %+v", pod)
	}
	plain := configured(t, engine.Server{URL: "https://h/v1"})
	if got := plain.API.ServedName("", "ns/m"); got != "ns/m" {
		t.Errorf("the served name is %q", got)
	}
}

func TestWorker(t *testing.T) {
	pod := configured(t, engine.Server{Profile: "sglang"}).Worker(engine.Worker{Nodes: 2, Leader: "root", ModelFile: "/model"})
	if pod.Main.Fields["KOLDUN_RANK"] != "metadata.labels['apps.kubernetes.io/pod-index']" || !slices.Contains(pod.Main.Args, "--node-rank=$(KOLDUN_RANK)") || pod.Main.Startup != 0 {
		t.Errorf("the worker is %+v", pod.Main)
	}
}

// TestSharedMemoryOfGroup sizes it by the GPUs of all nodes.
func TestSharedMemoryOfGroup(t *testing.T) {
	e := configured(t, engine.Server{Profile: "vllm"})
	one := engine.Node{GPUs: 1}
	for name, c := range map[string]struct {
		pod  engine.Pod
		want string
	}{
		"Alone":  {e.Root(engine.Root{Node: one, Nodes: 1}), ""},
		"Root":   {e.Root(engine.Root{Node: one, Nodes: 2}), "8Gi"},
		"Worker": {e.Worker(engine.Worker{Node: one, Nodes: 2}), "8Gi"},
		"NoGPUs": {e.Worker(engine.Worker{Nodes: 2}), ""},
	} {
		if got := c.pod.Memory["shm"]; got != c.want {
			t.Errorf("%s: the shared memory is %q, want %q", name, got, c.want)
		}
	}
}

func TestStartup(t *testing.T) {
	root := configured(t, engine.Server{}).Root
	for size, want := range map[int64]time.Duration{0: 2 * time.Hour, 1 << 20: 15 * time.Minute, 60 << 30: 47 * time.Minute} {
		if got := root(engine.Root{Node: engine.Node{ModelSize: size}}).Main.Startup; got != want {
			t.Errorf("a model of %d bytes starts within %v, want %v", size, got, want)
		}
	}
}

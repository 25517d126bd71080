// Package distributedllama describes distributed-llama: a root and workers that
// Koldun's binary supervises, from an image with dllama and dllama-api on PATH.
//
// One connection that says nothing ends a worker, so its port is guarded and
// the supervisor reports health on a port of its own.
package distributedllama

import (
	"strconv"
	"time"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/images"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/openai"
)

// Image is the engine's image as package/engines/distributed-llama publishes it.
const Image = images.DistributedLlama

// digest is that of Image in its registry. The linker sets it in a release.
var digest string

// published returns Image: in a release with its digest, which fixes its content.
func published() string {
	if digest == "" {
		return Image
	}
	return Image + "@" + digest
}

// volumeBin names the volume with Koldun's binary, which the engine's image
// lacks.
const volumeBin = "bin"

// keyFile is where the supervisor of a root writes the key to restart its engine.
func keyFile() string { return names.DirRef(volumeBin) + "/restart-key" }

// Engine returns the description. The engine is selected by any image that a
// claim names, and by more nodes than one.
func Engine() engine.Engine {
	return engine.Engine{
		Name:    "distributed-llama",
		Selects: func(w engine.Wish) bool { return len(w.Images) > 0 || w.Nodes > 1 },
		Image:   published(),
		Slots:   1,
		// The sidecar writes tools into the messages, and finds calls in the text.
		Features: []string{string(openai.FeatureTools)},
		Plain:    true,
		Guarded:  true,
		Memory: &engine.Memory{
			Plan:    topology.Shape.Preflight,
			Buffers: topology.SyncFor,
			Loading: topology.Shape.LoadingMemory,
			Limit:   true,
		},
		Root:   root,
		Worker: worker,
		Process: &engine.Process{
			Needs:     "name an image that holds dllama and dllama-api on PATH, built for the processors of its nodes, such as " + Image,
			Role:      role,
			KeyFile:   keyFile(),
			TextBegin: textBegin,
			TextEnd:   textEnd,
			Classify:  classify,
			Resumes:   resumes,
		},
	}
}

// root runs dllama-api below the supervisor. Its options are pairs. It binds to
// loopback, because only the sidecar connects to it.
func root(r engine.Root) engine.Pod {
	args := supervise(r.Node, engine.RootGrace)
	for _, w := range r.WaitFor {
		args = append(args, "--wait-for="+w)
	}
	args = append(args, "--", "dllama-api",
		"--model", r.ModelFile, "--tokenizer", r.TokenizerFile,
		"--host", "127.0.0.1", "--port", names.PortRef(engine.PortEngine),
		"--buffer-float-type", r.Buffers, "--max-seq-len", number(r.SeqLen))
	args = append(args, options(r.Node)...)
	if len(r.Workers) > 0 {
		args = append(append(args, "--workers"), r.Workers...)
	}
	pod := supervised("engine", r.Node, args)
	if r.Sidecar {
		pod.Main.ProbePort = ""
		pod.Main.Env = map[string]string{engine.EnvRestartKeyFile: keyFile()}
	}
	return pod
}

func worker(w engine.Worker) engine.Pod {
	args := append(supervise(w.Node, engine.WorkerGrace),
		"--", "dllama", "worker", "--host", "$("+names.EnvEngineHost+")", "--port", names.PortRef(engine.PortEngine))
	pod := supervised("worker", w.Node, append(args, options(w.Node)...))
	pod.Main.Env = map[string]string{names.EnvEngineHost: "0.0.0.0"}
	return pod
}

// supervise is the start of the supervisor's arguments. By default it knows the grace
// of its role.
func supervise(n engine.Node, grace time.Duration) []string {
	args := []string{"supervise", "--health-listen=:" + names.PortRef(engine.PortHealth)}
	if n.ExtraGrace > 0 {
		args = append(args, "--grace="+(grace+n.ExtraGrace-engine.ExitTime).String())
	}
	return args
}

// supervised is a pod that runs Koldun's binary in the engine's image: an init
// container copies it there. The folder is not /koldun: that is the program in Koldun's image.
func supervised(name string, n engine.Node, args []string) engine.Pod {
	binary := names.DirRef(volumeBin) + "/koldun"
	return engine.Pod{
		Init: []engine.Container{{
			Name:    "install",
			Image:   n.Koldun,
			Args:    []string{"install", "--to=" + binary},
			Volumes: []string{volumeBin},
		}},
		Main:    engine.Container{Name: name, Image: n.Image, Command: []string{binary}, Args: args, ProbePort: engine.PortHealth},
		Folders: map[string]string{volumeBin: "/opt/koldun"},
	}
}

// options returns the options that root and workers share.
func options(n engine.Node) []string {
	turbo := "0"
	if n.NetTurbo {
		turbo = "1"
	}
	out := []string{"--nthreads", number(n.Threads), "--net-turbo", turbo}
	if n.GPUIndex != nil {
		out = append(out, "--gpu-index", number(*n.GPUIndex))
	}
	return append(out, n.ExtraArgs...)
}

func number(n int32) string { return strconv.Itoa(int(max(n, 0))) }

// role returns the role of a command line: "dllama worker" is a worker.
func role(command []string) engine.Role {
	if len(command) > 1 && command[1] == "worker" {
		return engine.RoleWorker
	}
	return engine.RoleRoot
}

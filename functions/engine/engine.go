// Package engine builds the pods of a topology: a root that holds the model's
// files and serves, and the workers that it sends their share.
//
// Nothing may ever connect to an engine's port but its peers: one connection
// that says nothing ends a worker. So no probe and no Service leads to it, and
// the containers of distributed-llama are supervised by our own binary, which
// reports their health on a port of its own.
package engine

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// Engines.
const (
	Embedded         = "embedded"
	DistributedLlama = "distributed-llama"
)

// Ports of the pods. Only the sidecar and the peers ever connect to PortEngine.
const (
	PortEngine  = "engine"
	PortHealth  = "engine-health"
	PortSidecar = "llm"

	numberEngine  = 9990
	numberHealth  = 9991
	numberSidecar = 8081
)

// Numbers of the ports, for policies and addresses.
const (
	EngineNumber  int32 = numberEngine
	HealthNumber  int32 = numberHealth
	SidecarNumber int32 = numberSidecar
)

const (
	volumeModel = "model"
	volumeBin   = "bin"

	// graceRoot is how many seconds a root may take to finish or hand back
	// the request that it has; graceWorker outlives it.
	graceRoot   = 120
	graceWorker = 150
)

// Settings are what root and workers share.
type Settings struct {
	Engine  string // Embedded or DistributedLlama
	Koldun  string // image of our own binary
	Threads int32
	Turbo   bool
	GPU     *int32
	Extra   []string // further arguments

	PullPolicy  corev1.PullPolicy
	Scheduling  *v1.Scheduling
	Labels      map[string]string
	Group       map[string]string // labels of root and workers alike
	Marks       map[string]string
	Annotations map[string]string
	Resources   corev1.ResourceRequirements
}

// A Root is the root of a topology.
type Root struct {
	Settings
	Image         string
	ModelFile     string
	TokenizerFile string
	Buffers       string // float type of the values between nodes
	SeqLen        int32
	// Fetch is where the files come from, and the Secret with the connection;
	// or Claim is the volume that holds them.
	Fetch       string
	FetchSecret string
	Claim       string
	// Workers are their addresses, in the order of the nodes. Those that
	// Await names, HOST:PORT of their supervisors, are waited for.
	Workers []string
	Await   []string
	// Session and Model are whose requests the sidecar answers, BusSecret the
	// connection to the queue. Without a session there is no sidecar.
	Session, Model, BusSecret string
}

// Pod of the root.
func (r Root) Pod() workload.Pod {
	pod := workload.Pod{
		Labels:       r.Labels,
		Group:        r.Group,
		Marks:        r.Marks,
		Annotations:  r.Annotations,
		Ports:        map[string]int32{PortEngine: numberEngine, PortHealth: numberHealth},
		Volumes:      map[string]string{volumeModel: "/model"},
		PullPolicy:   r.PullPolicy,
		Scheduling:   r.Scheduling,
		GraceSeconds: graceRoot,
	}
	if r.Claim != "" {
		pod.Claims = map[string]workload.Claim{volumeModel: {Name: r.Claim, ReadOnly: true}}
	}
	if r.Fetch != "" {
		pod.Init = append(pod.Init, workload.Container{
			Name:    "fetch",
			Image:   r.Koldun,
			Args:    []string{"fetch", "--from=" + r.Fetch, "--to=" + dir(volumeModel)},
			Secrets: []string{r.FetchSecret},
		})
	}
	engine := r.embedded()
	if r.Engine == DistributedLlama {
		pod.Volumes[volumeBin] = "/koldun"
		pod.Init = append(pod.Init, r.install())
		engine = r.supervised()
	}
	pod.Containers = append(pod.Containers, engine)
	if r.Session != "" {
		pod.Ports[PortSidecar] = numberSidecar
		pod.Containers = append(pod.Containers, r.sidecar())
	}
	return pod
}

func (r Root) embedded() workload.Container {
	return workload.Container{
		Name:  "engine",
		Image: r.Image,
		Args: append([]string{
			"engine", "api",
			"--model=" + file(r.ModelFile),
			"--tokenizer=" + file(r.TokenizerFile),
			"--host=127.0.0.1", "--port=" + port(PortEngine),
			"--health-listen=:" + port(PortHealth),
			"--buffer-float-type=" + r.Buffers,
			"--nthreads=" + number(r.Threads),
			"--max-seq-len=" + number(r.SeqLen),
			"--temperature=0",
		}, r.Extra...),
		Resources: r.Resources,
	}
}

// supervised is dllama-api below our binary. Its options are pairs, and it
// binds to loopback: the sidecar is the only one who speaks to it.
func (r Root) supervised() workload.Container {
	args := []string{"supervise", "--health-listen=:" + port(PortHealth)}
	for _, w := range r.Await {
		args = append(args, "--wait-for="+w)
	}
	args = append(args, "--", "dllama-api",
		"--model", file(r.ModelFile), "--tokenizer", file(r.TokenizerFile),
		"--host", "127.0.0.1", "--port", port(PortEngine),
		"--buffer-float-type", r.Buffers, "--max-seq-len", number(r.SeqLen))
	args = append(args, r.options()...)
	if len(r.Workers) > 0 {
		args = append(append(args, "--workers"), r.Workers...)
	}
	c := r.container("engine", r.Image, args)
	if r.Session == "" {
		c.ProbePort = PortHealth
	}
	return c
}

func (r Root) sidecar() workload.Container {
	args := []string{
		"llm", "--listen=:" + port(PortSidecar),
		"--engine=http://127.0.0.1:" + port(PortEngine),
		"--session=" + r.Session, "--runner=" + names.Runner("$(POD_NAMESPACE)", "$(POD_NAME)"), "--model=" + r.Model,
	}
	if r.Engine == DistributedLlama {
		args = append(args, "--supervisor=http://127.0.0.1:"+port(PortHealth))
	}
	return workload.Container{
		Name:      "llm",
		Image:     r.Koldun,
		Args:      args,
		Secrets:   []string{r.BusSecret},
		ProbePort: PortSidecar,
	}
}

// A Worker is one of the workers of a topology. It needs no files.
type Worker struct {
	Settings
	Image string
}

// Pod of a worker.
func (w Worker) Pod() workload.Pod {
	args := append([]string{
		"supervise", "--health-listen=:" + port(PortHealth), "--",
		"dllama", "worker", "--host", "0.0.0.0", "--port", port(PortEngine),
	}, w.options()...)
	c := w.container("worker", w.Image, args)
	c.ProbePort = PortHealth
	return workload.Pod{
		Labels:       w.Labels,
		Group:        w.Group,
		Marks:        w.Marks,
		Annotations:  w.Annotations,
		Ports:        map[string]int32{PortEngine: numberEngine, PortHealth: numberHealth},
		Volumes:      map[string]string{volumeBin: "/koldun"},
		Init:         []workload.Container{w.install()},
		Containers:   []workload.Container{c},
		PullPolicy:   w.PullPolicy,
		Scheduling:   w.Scheduling,
		GraceSeconds: graceWorker,
	}
}

// install copies our static binary to where the engine's container finds it.
func (s Settings) install() workload.Container {
	return workload.Container{
		Name:    "install",
		Image:   s.Koldun,
		Args:    []string{"install", "--to=" + dir(volumeBin) + "/koldun"},
		Folders: []string{volumeBin},
	}
}

// container runs our binary in an image of distributed-llama.
func (s Settings) container(name, image string, args []string) workload.Container {
	return workload.Container{Name: name, Image: image, Command: []string{dir(volumeBin) + "/koldun"}, Args: args, Resources: s.Resources}
}

// options of distributed-llama on every node. Sockets are polled without pause
// only where that does not starve the computation.
func (s Settings) options() []string {
	turbo := "0"
	if s.Turbo {
		turbo = "1"
	}
	out := []string{"--nthreads", number(s.Threads), "--net-turbo", turbo}
	if s.GPU != nil {
		out = append(out, "--gpu-index", number(*s.GPU))
	}
	return append(out, s.Extra...)
}

// Addresses of the n pods of a StatefulSet, as HOST:PORT. They carry no
// cluster domain, so that every cluster resolves them.
func Addresses(namespace, set string, n, port int32) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s-%d.%s.%s.svc:%d", set, i, set, namespace, port)
	}
	return out
}

func file(name string) string {
	if name != "" && name[0] == '/' {
		return name
	}
	return dir(volumeModel) + "/" + name
}

func dir(volume string) string { return "$(" + names.DirEnv(volume) + ")" }
func port(name string) string  { return "$(" + names.PortEnv(name) + ")" }
func number(n int32) string    { return strconv.Itoa(int(max(n, 0))) }

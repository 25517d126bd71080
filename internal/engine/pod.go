package engine

import "time"

// Names of the ports of a topology's pods. Only peers and the sidecar connect
// to PortEngine.
const (
	PortEngine  = "engine"
	PortHealth  = "engine-health"
	PortSidecar = "llm"
)

// Numbers of those ports.
const (
	EngineNumber  int32 = 9990
	HealthNumber  int32 = 9991
	SidecarNumber int32 = 8081
)

// Names of volumes: with the model's files, and with what a server downloads and
// compiles, which may outlive the pod.
const (
	VolumeModel = "model"
	VolumeCache = "cache"
)

const (
	// AnswerGrace is the time that the sidecar of a root that stops gives running
	// answers by default.
	AnswerGrace = 25 * time.Second
	// RootGrace is how long a root may take to finish or hand back its requests. The
	// sidecar takes AnswerGrace, and then a server what it wants.
	RootGrace = 120 * time.Second
	// WorkerGrace is how long a worker may take to end: it outlives its root.
	WorkerGrace = 150 * time.Second
	// ExitTime is the part of these that remains for the engine to exit after its
	// session has ended.
	ExitTime = 10 * time.Second
)

// A Node is what a claim says of every node of a topology.
type Node struct {
	Image  string // of the engine
	Koldun string // of Koldun's own binary
	// Threads computes; below 0 counts as 0.
	Threads int32
	// NetTurbo polls sockets without pause.
	NetTurbo  bool
	GPUIndex  *int32
	ExtraArgs []string
	// Model is the name of the Model: NAMESPACE/NAME.
	Model string
	// GPUs is the number of GPUs of the node's engine.
	GPUs int64
	// ModelSize is the size of the model's files in bytes; 0 is unknown.
	ModelSize int64
	// ExtraGrace is the time that running answers get beyond AnswerGrace when the pod
	// stops, and the pod beyond RootGrace or WorkerGrace.
	ExtraGrace time.Duration
}

// A Root is what a claim says of the root of a topology.
type Root struct {
	Node
	ModelFile     string // path in the container
	TokenizerFile string // path in the container
	Buffers       string // type of the values that nodes exchange
	SeqLen        int32  // longest context in tokens
	Slots         int    // requests at the same time
	// Leader is the host name of the root itself, and Nodes the number of nodes
	// with it.
	Leader string
	Nodes  int
	// Workers are the HOST:PORT of the workers' engines, in the order of the
	// nodes. WaitFor are the HOST:PORT of the supervisors to wait for.
	Workers, WaitFor []string
	// Sidecar means that a sidecar drives the engine and answers the pod's
	// probes.
	Sidecar bool
}

// A Worker is what a claim says of a worker of a topology.
type Worker struct {
	Node
	ModelFile string // path in the container; empty if only the root reads files
	SeqLen    int32  // longest context in tokens
	// Leader is the host name of the root, and Nodes the number of nodes with it.
	Leader string
	Nodes  int
}

// A Pod is the engine's part of a pod.
type Pod struct {
	Init []Container
	// Main runs the engine. It gets the resources that the claim names.
	Main Container
	// Folders are empty volumes by name, and where they are mounted.
	Folders map[string]string
	// Memory are those of Folders that are in memory, and their sizes as
	// Kubernetes writes them.
	Memory map[string]string
	// Ports are the engine's ports by name; nil is PortEngine and PortHealth with
	// their usual numbers.
	Ports map[string]int32
}

// A Container is one container. It reaches ports and volumes of its pod by
// names.PortRef and names.DirRef.
type Container struct {
	Name    string
	Image   string
	Command []string // in place of the image's own
	Args    []string
	Env     map[string]string
	// Fields are variables from fields of the pod, by their paths.
	Fields map[string]string
	// ProbePort names the port on which /readyz and /healthz answer; empty is
	// no probe. A guarded engine's own port is never one.
	ProbePort string
	// Volumes are the names of those that are mounted; nil is all of the pod's.
	Volumes []string
	// User runs the container; nil is the user of all pods, who is not root.
	User *int64
	// Startup is how long an engine without a supervisor may take until the sidecar
	// has a token of it. Then it is restarted, as it is later when it hangs. It ends
	// after the sidecar has drained. 0 means that the sidecar
	// does not watch the container.
	Startup time.Duration
}

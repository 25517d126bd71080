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

// VolumeModel names the volume with the model's files.
const VolumeModel = "model"

const (
	// RootGrace is how long a root may take to finish or hand back its requests.
	RootGrace = 120 * time.Second
	// WorkerGrace is how long a worker may take to end: it outlives its root.
	WorkerGrace = 150 * time.Second
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
}

// A Root is what a claim says of the root of a topology.
type Root struct {
	Node
	ModelFile     string // path in the container
	TokenizerFile string // path in the container
	Buffers       string // type of the values that nodes exchange
	SeqLen        int32  // longest context in tokens
	// Workers are the HOST:PORT of the workers' engines, in the order of the
	// nodes. WaitFor are the HOST:PORT of the supervisors to wait for.
	Workers, WaitFor []string
	// Sidecar means that a sidecar drives the engine and answers the pod's
	// probes.
	Sidecar bool
}

// A Worker is what a claim says of a worker of a topology.
type Worker struct{ Node }

// A Pod is the engine's part of a pod.
type Pod struct {
	Init []Container
	// Main runs the engine. It gets the resources that the claim names.
	Main Container
	// Folders are empty volumes by name, and where they are mounted.
	Folders map[string]string
}

// A Container is one container. It reaches ports and volumes of its pod by
// names.PortRef and names.DirRef.
type Container struct {
	Name    string
	Image   string
	Command []string // in place of the image's own
	Args    []string
	Env     map[string]string
	// ProbePort names the port on which /readyz and /healthz answer; empty is
	// no probe. A guarded engine's own port is never one.
	ProbePort string
	// Volumes are the names of those that are mounted; nil is all of the pod's.
	Volumes []string
}

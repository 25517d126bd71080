// Package profile says what a profile of an OpenAI-compatible server is: how the
// server is started, and what it offers. Each server has a package of its own
// below this one.
package profile

import (
	"cmp"

	"github.com/gorizond/koldun/internal/engine"
)

// A Profile describes one server, at the version of its image.
type Profile struct {
	// Name selects the profile in spec.engine.server.profile.
	Name string
	// Image is what a claim without an image runs; empty if the claim must name
	// one.
	Image string
	// Slots is how many requests the server computes at once, unless the claim says
	// otherwise.
	Slots int
	// Operations, Parameters and Features are those that the server offers without
	// further arguments.
	Operations, Parameters, Features []string
	// Load names the metrics that say how busy the server is, which Start turns on
	// unless the server is alone.
	Load engine.LoadMetrics
	// Spreads means that the server has a launch over several nodes.
	Spreads bool
	// Threads means that the server has a number of compute threads.
	Threads bool
	// Context means that Koldun sets the longest context of the server.
	Context bool
	// SharedMemory returns the size of /dev/shm for the number of GPUs of all nodes, as
	// Kubernetes writes it; empty is that of the container runtime. Nil is always empty.
	SharedMemory func(gpus int64) string
	// ServedName returns the name by which the server knows its model if the claim
	// gives none. Nil: it gets the name of the Model.
	ServedName func(downloads bool, model, name string) string
	// Unfit says why the server cannot get its model so; empty if it can. Nil is
	// always empty.
	Unfit func(downloads bool, model string) string
	// Start returns how a node of the server is started.
	Start func(Launch) Start
	// Alone describes the server without a sidecar.
	Alone Alone
}

// Folders that every server's container has, and may write to.
const (
	// Cache is the home of the server's user. It may outlive the pod.
	Cache = "/cache"
	// Temporary is the usual folder for temporary files.
	Temporary = "/tmp"
	// ConfigFolder has the configuration files of a server without a sidecar.
	ConfigFolder = "/config"
	// Home and Config refer to the cache and to ConfigFolder in arguments and
	// variables.
	Home   = "$(KOLDUN_DIR_CACHE)"
	Config = "$(KOLDUN_DIR_CONFIG)"
)

// A Launch is what one node of a server is started with.
type Launch struct {
	// Model is an id on the server's hub if Downloads, else the path of the model's
	// files: of a folder, or of its GGUF file.
	Model      string
	Downloads  bool
	ServedName string
	// Host is the address to listen on; empty is loopback, where only the sidecar
	// connects.
	Host    string
	Port    string // number, or reference to a variable
	SeqLen  int    // longest context in tokens; 0 is the server's choice
	Slots   int
	Threads int // 0 is the server's choice
	GPUs    int // of the node; 0 is unknown
	// Nodes is the number of nodes, and Rank the reference to the number of this
	// one: 0 is the leader, which serves. Leader is the host name of the leader.
	Nodes  int
	Rank   string
	Leader string
}

// Listen returns the address to listen on.
func (l Launch) Listen() string { return cmp.Or(l.Host, "127.0.0.1") }

// Alone reports whether the node has no sidecar.
func (l Launch) Alone() bool { return l.Host != "" }

// Leads reports whether the node is the leader.
func (l Launch) Leads() bool { return l.Rank == "0" }

// A Start is how a node is started.
type Start struct {
	Command, Args []string
	Env           map[string]string
	// Fields are variables from fields of the pod, by their paths.
	Fields map[string]string
	// Files are configuration files in ConfigFolder, by name.
	Files map[string]string
	// Prepare is a script for /bin/sh in the server's image that makes the model
	// ready before the server starts; empty is none.
	Prepare string
}

// Base returns the variables of every server: the user has no entry in the
// image's list of users, and its home is the cache.
func Base() map[string]string {
	return map[string]string{"HOME": Home, "USER": "koldun", "HF_HOME": Home + "/huggingface", "XDG_CACHE_HOME": Home}
}

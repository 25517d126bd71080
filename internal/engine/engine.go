// Package engine describes inference engines: what selects one, the containers
// that run it, how many nodes and requests it takes, and what it announces.
//
// A description is plain data and pure functions, so that composition
// functions, Terraform's preflight and the runtime share it. Package catalog
// lists the engines; each has a package of its own below this one.
package engine

import (
	"fmt"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
)

// An Engine describes one inference engine.
type Engine struct {
	// Name selects the engine in spec.engine.type.
	Name string
	// Selects reports whether a claim that names no engine runs this one.
	Selects func(Wish) bool
	// Image is the image that runs the engine if a claim names none; empty is
	// Koldun's own. A claim names the image of a server without one.
	Image string
	// MaxNodes is the most nodes over which a model is spread; 0 is any number.
	MaxNodes int
	// Slots is how many requests one root computes at the same time, at least 1.
	Slots int
	// MaxSlots is the most slots that spec.engine.slots of a claim may ask for; 0
	// means that their number is fixed.
	MaxSlots int
	// Parameters are the sampling parameters of a request that the engine
	// honours, as package openai names them. It announces them with each answer;
	// nil if it announces none.
	Parameters []string
	// Operations and Features are those that the engine offers, as package openai
	// names them, unless API has them. It announces them as it does Parameters; nil
	// Operations are openai.DefaultOperations.
	Operations, Features []string
	// Plain means that its API takes messages of nothing but role and text: the
	// sidecar writes tools into them, as the chat template in the tokenizer file does,
	// and finds calls in the answer.
	Plain bool
	// Guarded means that a connection from anything but a peer ends the
	// engine's process. Network policies then close its port to all others.
	Guarded bool
	// Memory plans the memory of each node; nil if nothing is known of it, and
	// then neither the number of nodes nor the context is checked.
	Memory *Memory
	// Root returns the engine's part of the root's pod.
	Root func(Root) Pod
	// Worker returns the engine's part of a worker's pod; nil if it has no
	// workers.
	Worker func(Worker) Pod
	// Process describes the processes that "koldun supervise" runs; nil if the
	// engine is not supervised.
	Process *Process
	// Grouped means that the nodes reach each other on any port, that nothing
	// else reaches them, and that the workers are numbered from 1.
	Grouped bool
	// API describes the OpenAI-compatible API by which the sidecar drives the
	// engine; nil if it is the API of dllama-api.
	API *API
	// Reads says which files of a Model the engine loads.
	Reads Files
	// Unfit says why the engine cannot load that path of a Model's files; empty if it
	// can. Nil is always empty.
	Unfit func(path string) string
	// Configured returns the engine that runs the server of a claim. The error is
	// Invalid, and begins with the field that is wrong. Nil if the engine has no
	// such server.
	Configured func(Server) (Engine, error)
}

// MaxSlots is the most slots that a runner has.
const MaxSlots = 32

// Files are the files of a Model that an engine loads.
type Files int

// Kinds of files.
const (
	FilesConverted Files = iota // converted to the formats of distributed-llama
	FilesSource                 // those of the hub
	FilesNone                   // none: the server has the model, or downloads it
)

// A Wish is what a claim that names no engine says of the one that it needs.
type Wish struct {
	Nodes int // 0 if not known yet
	// Images are those that the claim names, without Koldun's own. It holds no
	// empty strings.
	Images []string
}

// Memory plans what the nodes of a topology allocate, by the model's header.
type Memory struct {
	// Plan returns what each node allocates, or why the model cannot run so.
	Plan func(topology.Shape, topology.Request) (topology.Plan, error)
	// Buffers returns the type of the values that nodes exchange for a type of
	// weights, or why those weights do not run.
	Buffers func(weights topology.FloatType) (topology.FloatType, error)
	// Loading returns the bytes that a node needs beside its plan: for what it
	// allocates while it loads, and for the program itself.
	Loading func(s topology.Shape, nodes int) int64
	// Limit means that no node ever takes more, so that the plan is the memory
	// limit of its container too.
	Limit bool
}

// CheckNodes reports whether the engine runs on n nodes. The error is Invalid.
func (e Engine) CheckNodes(n int) error {
	if e.MaxNodes == 0 || n <= e.MaxNodes {
		return nil
	}
	noun := "nodes"
	if e.MaxNodes == 1 {
		noun = "node"
	}
	return fault.Errorf(fault.Invalid, "the %s engine runs on %s, not on %d", e.Name, fmt.Sprint(e.MaxNodes, " ", noun), n)
}

// WithSlots returns the engine with the slots of a claim; 0 leaves their number as it
// is. The error is Invalid.
func (e Engine) WithSlots(n int) (Engine, error) {
	switch {
	case n == 0:
		return e, nil
	case e.API != nil:
		return e, fault.Errorf(fault.Invalid, "it has no effect on a server: use the slots of the server")
	case e.MaxSlots == 0:
		return e, fault.Errorf(fault.Invalid, "the %s engine computes %d request at a time: leave it out", e.Name, e.Slots)
	case n < 1 || n > e.MaxSlots:
		return e, fault.Errorf(fault.Invalid, "the %s engine has 1 to %d slots, not %d", e.Name, e.MaxSlots, n)
	}
	e.Slots = n
	return e, nil
}

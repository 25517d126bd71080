// Package vllm is the profile of vLLM's server.
package vllm

import (
	"strconv"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/images"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/openai"
)

// masterPort is where the nodes find each other.
const masterPort = "29501"

// drain is how many seconds the server finishes requests after a signal to stop;
// by default it aborts them. In the root's pod it gets the signal after the sidecar
// has drained, unless the sidecar is gone.
const drain = "30"

// Profile returns the profile.
func Profile() profile.Profile {
	return profile.Profile{
		Name:       "vllm",
		Image:      images.VLLM,
		Slots:      engine.MaxSlots,
		Operations: profile.Operations(),
		Parameters: profile.Sampling(openai.HintLogitBias),
		// tools with tool_choice auto need --enable-auto-tool-choice and a parser, which
		// depends on the model; named and required ones are structured output.
		Features:     profile.Features(openai.FeatureToolChoice, openai.FeatureJSONSchema, openai.FeatureLogprobs),
		Load:         engine.LoadMetrics{Running: "vllm:num_requests_running", Waiting: "vllm:num_requests_waiting"},
		Spreads:      true,
		SharedMemory: profile.SharedByGPUs("8Gi"),
		Context:      true,
		Start:        start,
		Alone:        profile.Alone{Port: 8000, Ready: "/health", Live: "/health", Flags: flags},
	}
}

func start(l profile.Launch) profile.Start {
	s := profile.Start{
		Command: []string{"vllm", "serve"},
		Args: []string{
			l.Model, "--served-model-name=" + l.ServedName, "--host=" + l.Listen(), "--port=" + l.Port,
		},
		Env: profile.Base(),
	}
	if !l.Alone() { // with tags that users choose, flags that not all versions have end the server
		s.Args = append(s.Args, "--max-num-seqs="+strconv.Itoa(l.Slots), "--shutdown-timeout="+drain)
	}
	s.Env["VLLM_NO_USAGE_STATS"] = "1"
	if l.SeqLen > 0 {
		s.Args = append(s.Args, "--max-model-len="+strconv.Itoa(l.SeqLen))
	}
	if l.GPUs > 1 {
		s.Args = append(s.Args, "--tensor-parallel-size="+strconv.Itoa(l.GPUs))
	}
	if l.Nodes > 1 {
		s.Args = append(s.Args, group(l)...)
		// Each node is known to the others by this address.
		s.Fields = map[string]string{"VLLM_HOST_IP": "status.podIP"}
	}
	return s
}

// group returns the arguments of a launch over several nodes: a stage of the
// model's layers on each. The leader binds to the address of its own pod, because
// sockets do not bind to names.
func group(l profile.Launch) []string {
	master := l.Leader
	if l.Leads() {
		master = "$(VLLM_HOST_IP)"
	}
	args := []string{
		"--pipeline-parallel-size=" + strconv.Itoa(l.Nodes), "--distributed-executor-backend=mp",
		"--nnodes=" + strconv.Itoa(l.Nodes), "--node-rank=" + l.Rank, "--master-addr=" + master, "--master-port=" + masterPort,
	}
	if !l.Leads() {
		args = append(args, "--headless")
	}
	return args
}

// flags are the arguments of a model: those that prem-operator passes, in its
// order, and the revision.
func flags(m profile.Model) []string {
	return profile.Given("--dtype=", m.DataType, "--quantization=", m.Quantization, "--revision=", m.Revision)
}

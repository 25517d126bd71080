// Package sglang is the profile of SGLang's server.
package sglang

import (
	"strconv"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/images"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/openai"
)

// initPort is where the nodes find each other.
const initPort = "20000"

// Profile returns the profile.
func Profile() profile.Profile {
	return profile.Profile{
		Name:       "sglang",
		Image:      images.SGLang,
		Slots:      engine.MaxSlots,
		Operations: profile.Operations(),
		Parameters: profile.Sampling(openai.HintLogitBias),
		// tools need --tool-call-parser, which depends on the model.
		Features:     profile.Features(openai.FeatureJSONSchema, openai.FeatureLogprobs),
		Load:         engine.LoadMetrics{Running: "sglang:num_running_reqs", Waiting: "sglang:num_queue_reqs"},
		Spreads:      true,
		SharedMemory: profile.SharedByGPUs("16Gi"),
		Context:      true,
		Start:        start,
		Alone: profile.Alone{Port: 30000, Ready: "/health", Live: "/health", Flags: func(m profile.Model) []string {
			return profile.Given("--dtype=", m.DataType, "--quantization=", m.Quantization, "--revision=", m.Revision)
		}},
	}
}

// start passes the host, although loopback is the default. Tensor parallelism
// spans all GPUs of all nodes.
func start(l profile.Launch) profile.Start {
	s := profile.Start{
		Command: []string{"python3", "-m", "sglang.launch_server"},
		Args: []string{
			"--model-path=" + l.Model, "--served-model-name=" + l.ServedName, "--host=" + l.Listen(), "--port=" + l.Port,
			"--max-running-requests=" + strconv.Itoa(l.Slots),
		},
		Env: profile.Base(),
	}
	if !l.Alone() {
		s.Args = append(s.Args, "--enable-metrics")
	}
	if l.SeqLen > 0 {
		s.Args = append(s.Args, "--context-length="+strconv.Itoa(l.SeqLen))
	}
	if all := max(l.GPUs, 1) * max(l.Nodes, 1); all > 1 {
		s.Args = append(s.Args, "--tp-size="+strconv.Itoa(all))
	}
	if l.Nodes > 1 {
		s.Args = append(s.Args, "--nnodes="+strconv.Itoa(l.Nodes), "--node-rank="+l.Rank, "--dist-init-addr="+l.Leader+":"+initPort)
	}
	return s
}

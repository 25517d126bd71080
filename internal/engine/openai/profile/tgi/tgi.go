// Package tgi is the profile of Text Generation Inference, for setups that have
// it: its project sends new users to vLLM, SGLang and llama.cpp.
package tgi

import (
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/images"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/openai"
)

// Profile returns the profile.
func Profile() profile.Profile {
	return profile.Profile{
		Name:         "tgi",
		Image:        images.TGI,
		Slots:        engine.MaxSlots,
		Operations:   profile.Operations(),
		Parameters:   profile.Sampling(),
		Features:     profile.Features(openai.FeatureTools, openai.FeatureToolChoice, openai.FeatureJSONSchema, openai.FeatureLogprobs),
		Load:         engine.LoadMetrics{Running: "tgi_batch_current_size", Waiting: "tgi_queue_size"},
		SharedMemory: func(int64) string { return "1Gi" },
		// The server takes any name, and lists only that of its model.
		ServedName: func(_ bool, model, _ string) string { return model },
		Context:    true,
		Start:      start,
		Alone: profile.Alone{Port: 8080, Ready: "/health", Live: "/health", Flags: func(m profile.Model) []string {
			dtype := m.DataType
			if m.Quantization != "" && !strings.HasPrefix(m.Quantization, "bitsandbytes") {
				dtype = "" // TGI ends if both are given
			}
			return profile.Given("--dtype=", dtype, "--quantize=", m.Quantization, "--revision=", m.Revision)
		}},
	}
}

// start allows twice as many requests as slots: the server answers one above its
// limit with 429, and may notice later than the sidecar that a slot is free.
func start(l profile.Launch) profile.Start {
	s := profile.Start{
		Command: []string{"text-generation-launcher"},
		Args: []string{
			"--model-id=" + l.Model, "--hostname=" + l.Listen(), "--port=" + l.Port,
			"--max-concurrent-requests=" + strconv.Itoa(2*l.Slots),
		},
		Env: profile.Base(),
	}
	s.Env["HUGGINGFACE_HUB_CACHE"] = profile.Home + "/huggingface"
	if l.SeqLen > 0 {
		s.Args = append(s.Args, "--max-total-tokens="+strconv.Itoa(l.SeqLen))
	}
	if l.GPUs > 1 {
		s.Args = append(s.Args, "--num-shard="+strconv.Itoa(l.GPUs))
	}
	return s
}

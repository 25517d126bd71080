// Package tensorrtllm is the profile of trtllm-serve, the server of TensorRT-LLM.
package tensorrtllm

import (
	"strconv"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/images"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/openai"
)

// Profile returns the profile.
func Profile() profile.Profile {
	return profile.Profile{
		Name:         "tensorrt-llm",
		Image:        images.TensorRTLLM,
		Slots:        engine.MaxSlots,
		Operations:   profile.Operations(),
		Parameters:   profile.Sampling(),
		Features:     profile.Features(openai.FeatureJSONSchema),
		SharedMemory: func(int64) string { return "8Gi" },
		Context:      true,
		Start:        start,
		Alone:        profile.Alone{Port: 8000, Ready: "/health", Live: "/health"},
	}
}

// start passes the host, although loopback is the default.
func start(l profile.Launch) profile.Start {
	s := profile.Start{
		Command: []string{"trtllm-serve"},
		Args: []string{
			l.Model, "--host=" + l.Listen(), "--port=" + l.Port, "--served_model_name=" + l.ServedName,
			"--max_batch_size=" + strconv.Itoa(l.Slots),
		},
		Env: profile.Base(),
	}
	if l.SeqLen > 0 {
		s.Args = append(s.Args, "--max_seq_len="+strconv.Itoa(l.SeqLen))
	}
	if l.GPUs > 1 {
		s.Args = append(s.Args, "--tp_size="+strconv.Itoa(l.GPUs))
	}
	return s
}

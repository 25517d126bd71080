// Package triton is the profile of NVIDIA's Triton Inference Server. Behind the
// sidecar it is its OpenAI-compatible frontend, because the server itself has no
// chats.
package triton

import (
	"fmt"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/images"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
)

// frontend is where the image has the OpenAI-compatible frontend.
const frontend = "/opt/tritonserver/python/openai/openai_frontend/main.py"

// Profile returns the profile. The frontend has tools for two families of models
// only, so they are no feature; its default of max_tokens is 16.
func Profile() profile.Profile {
	return profile.Profile{
		Name:         "triton",
		Image:        images.TritonVLLM,
		Slots:        engine.MaxSlots,
		Operations:   profile.Operations(),
		Parameters:   profile.Sampling(),
		SharedMemory: func(int64) string { return "8Gi" },
		Unfit:        unfit,
		Start:        start,
		Alone: profile.Alone{
			Image: images.Triton, Port: 8000, Models: profile.ManyModels,
			Ready: "/v2/health/ready", Live: "/v2/health/live", Start: alone, ServedNames: servedNames,
		},
	}
}

func unfit(downloads bool, model string) string {
	if !downloads {
		return ""
	}
	return fmt.Sprintf("Triton downloads no models, and %q is to be downloaded: give it a Model with its model repository", model)
}

// start reads a model repository, whose folders are the names of the models. The
// claim's arguments name the tokenizer.
func start(l profile.Launch) profile.Start {
	return profile.Start{
		Command: []string{"python3", frontend},
		Args:    []string{"--model-repository=" + l.Model, "--host=" + l.Listen(), "--openai-port=" + l.Port},
		Env:     profile.Base(),
	}
}

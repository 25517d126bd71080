// Package llamacpp is the profile of llama.cpp's server.
package llamacpp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/openai"
)

// Profile returns the profile. The image is for CPUs; those for GPUs have other
// tags of the same build.
func Profile() profile.Profile {
	return profile.Profile{
		Name:       "llama.cpp",
		Image:      "ghcr.io/ggml-org/llama.cpp:server-b10731",
		Slots:      1,
		Operations: []string{string(openai.OperationChat), string(openai.OperationCompletion)},
		Parameters: []string{
			openai.HintTemperature, openai.HintTopP, openai.HintSeed, "frequency_penalty", "presence_penalty", "logit_bias",
		},
		Features: []string{"tools", "tool_choice", "json_schema", "logprobs"},
		Threads:  true,
		Unfit:    unfit,
		Context:  true,
		Start:    start,
	}
}

func unfit(downloads bool, model string) string {
	if downloads || strings.HasSuffix(model, ".gguf") {
		return ""
	}
	return fmt.Sprintf("llama.cpp loads a .gguf file, and %q is none: choose one with spec.model.download.include, or with server.model", model)
}

// start passes the port, whose default has changed, and never --tools or --agent,
// which give a model the files and the shell of the server. The slots share the
// context, so it is their number times what one request may have.
func start(l profile.Launch) profile.Start {
	s := profile.Start{Command: []string{"/app/llama-server"}, Env: profile.Base()}
	s.Env["LLAMA_CACHE"] = profile.Cache + "/llama.cpp"
	if l.Downloads {
		s.Args = append(s.Args, "--hf-repo", l.Model)
	} else {
		s.Args = append(s.Args, "--model", l.Model)
	}
	s.Args = append(s.Args, "--alias", l.ServedName, "--host", "127.0.0.1", "--port", l.Port, "--parallel", strconv.Itoa(l.Slots))
	if l.SeqLen > 0 {
		s.Args = append(s.Args, "--ctx-size", strconv.Itoa(l.SeqLen*l.Slots))
	}
	if l.Threads > 0 {
		s.Args = append(s.Args, "--threads", strconv.Itoa(l.Threads))
	}
	return s
}

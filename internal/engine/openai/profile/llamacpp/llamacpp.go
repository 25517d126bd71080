// Package llamacpp is the profile of llama.cpp's server.
package llamacpp

import (
	"strconv"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/images"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/openai"
)

// Profile returns the profile. The image is for CPUs; those for GPUs have other
// tags of the same build.
func Profile() profile.Profile {
	return profile.Profile{
		Name:       "llama.cpp",
		Image:      images.LlamaCpp,
		Slots:      1,
		Operations: profile.Operations(),
		Parameters: profile.Sampling(openai.HintLogitBias),
		Features:   profile.Features(openai.FeatureTools, openai.FeatureToolChoice, openai.FeatureJSONSchema, openai.FeatureLogprobs),
		Load:       engine.LoadMetrics{Running: "llamacpp:requests_processing", Waiting: "llamacpp:requests_deferred"},
		Threads:    true,
		Unfit:      profile.NeedsGGUF("llama.cpp loads a .gguf file"),
		Context:    true,
		Start:      start,
		Alone:      profile.Alone{Port: 8080, Ready: "/health", Live: "/health"},
	}
}

// start passes the port, whose default has changed, and never --tools or --agent,
// which give a model the files and the shell of the server. The slots share the
// context, so it is their number times what one request may have.
func start(l profile.Launch) profile.Start {
	s := profile.Start{Command: []string{"/app/llama-server"}, Env: profile.Base()}
	s.Env["LLAMA_CACHE"] = profile.Home + "/llama.cpp"
	switch {
	case l.Downloads && profile.IsURL(l.Model):
		s.Args = append(s.Args, "--model-url", l.Model)
	case l.Downloads:
		s.Args = append(s.Args, "--hf-repo", l.Model)
	default:
		s.Args = append(s.Args, "--model", l.Model)
	}
	s.Args = append(s.Args, "--alias", l.ServedName, "--host", l.Listen(), "--port", l.Port, "--parallel", strconv.Itoa(l.Slots))
	if !l.Alone() {
		s.Args = append(s.Args, "--metrics")
	}
	if l.SeqLen > 0 {
		s.Args = append(s.Args, "--ctx-size", strconv.Itoa(l.SeqLen*l.Slots))
	}
	if l.Threads > 0 {
		s.Args = append(s.Args, "--threads", strconv.Itoa(l.Threads))
	}
	return s
}

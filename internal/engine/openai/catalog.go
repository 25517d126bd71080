package openai

import (
	"strings"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/engine/openai/profile/deepspeedmii"
	"github.com/gorizond/koldun/internal/engine/openai/profile/generic"
	"github.com/gorizond/koldun/internal/engine/openai/profile/llamacpp"
	"github.com/gorizond/koldun/internal/engine/openai/profile/localai"
	"github.com/gorizond/koldun/internal/engine/openai/profile/ollama"
	"github.com/gorizond/koldun/internal/engine/openai/profile/sglang"
	"github.com/gorizond/koldun/internal/engine/openai/profile/tensorrtllm"
	"github.com/gorizond/koldun/internal/engine/openai/profile/tgi"
	"github.com/gorizond/koldun/internal/engine/openai/profile/triton"
	"github.com/gorizond/koldun/internal/engine/openai/profile/vllm"
	"github.com/gorizond/koldun/internal/fault"
)

// profiles returns all profiles.
func profiles() []profile.Profile {
	return []profile.Profile{
		vllm.Profile(),
		sglang.Profile(),
		llamacpp.Profile(),
		ollama.Profile(),
		localai.Profile(),
		tgi.Profile(),
		triton.Profile(),
		tensorrtllm.Profile(),
		deepspeedmii.Profile(),
		generic.Profile(),
	}
}

// Profiles returns the names of all profiles.
func Profiles() []string {
	var out []string
	for _, p := range profiles() {
		out = append(out, p.Name)
	}
	return out
}

// Images returns those of all profiles that have one, behind the gateway or alone.
func Images() []string {
	var out []string
	for _, p := range profiles() {
		for _, image := range []string{p.Image, p.Alone.Image} {
			if image != "" {
				out = append(out, image)
			}
		}
	}
	return out
}

// spreading returns the names of the profiles that launch over several nodes.
func spreading() string {
	var out []string
	for _, p := range profiles() {
		if p.Spreads {
			out = append(out, p.Name)
		}
	}
	return strings.Join(out, " or ")
}

// ByName returns the profile of that name; an empty one is generic.
func ByName(name string) (profile.Profile, error) {
	if name == "" {
		return generic.Profile(), nil
	}
	for _, p := range profiles() {
		if p.Name == name {
			return p, nil
		}
	}
	return profile.Profile{}, fault.Errorf(fault.Invalid, "server.profile: %q is not one of %s", name, strings.Join(Profiles(), ", "))
}

// Package deepspeedmii is the profile of DeepSpeed-MII's OpenAI-compatible server,
// for setups that have it: the project has no release since the middle of 2025, and
// no official image.
package deepspeedmii

import (
	"strconv"

	"github.com/gorizond/koldun/internal/engine/images"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/openai"
)

// Profile returns the profile. The server has no tools and no schemas, and returns
// null for log probabilities.
func Profile() profile.Profile {
	return profile.Profile{
		Name:         "deepspeed-mii",
		Slots:        8,
		Operations:   profile.Operations(),
		Parameters:   []string{openai.HintTemperature, openai.HintTopP},
		SharedMemory: func(int64) string { return "1Gi" },
		// A request must name the model exactly as the server's argument does.
		ServedName: func(_ bool, model, _ string) string { return model },
		Context:    true,
		Start:      start,
		Alone:      alone(),
	}
}

func start(l profile.Launch) profile.Start {
	s := profile.Start{
		Command: []string{"python3", "-m", "mii.entrypoints.openai_api_server"},
		Args:    []string{"--model=" + l.Model, "--host=" + l.Listen(), "--port=" + l.Port},
		Env:     profile.Base(),
	}
	if l.SeqLen > 0 {
		s.Args = append(s.Args, "--max-length="+strconv.Itoa(l.SeqLen))
	}
	if l.GPUs > 1 {
		s.Args = append(s.Args, "--tensor-parallel="+strconv.Itoa(l.GPUs))
	}
	return s
}

// alone is the server of prem-operator's image, which its users know: it has a
// health path of its own, and is not OpenAI-compatible.
func alone() profile.Alone {
	return profile.Alone{
		Image: images.DeepSpeedMII, Port: 8080, Ready: "/healthz", Live: "/healthz",
		// Clients ask for the name that the image gives its deployment.
		ServedNames: func(profile.Model) []string { return []string{"default"} },
		Start: func(d profile.Deployment) (profile.Start, error) {
			return profile.Start{Args: []string{"--uri=" + d.Models[0].URI}, Env: profile.Base()}, nil
		},
	}
}

// Package generic is the profile of every server that has none of its own: the
// claim says how it is started and what it offers.
package generic

import (
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/openai"
)

// Profile returns the profile. What all OpenAI-compatible servers have is offered.
func Profile() profile.Profile {
	return profile.Profile{
		Name:       "generic",
		Slots:      1,
		Operations: profile.Operations(),
		Parameters: []string{openai.HintTemperature, openai.HintTopP},
		Start:      start,
		Alone:      profile.Alone{Models: profile.NoModels},
	}
}

// start passes nothing but variables, which arguments and scripts of the claim may
// refer to.
func start(l profile.Launch) profile.Start {
	s := profile.Start{Env: profile.Base()}
	s.Env["KOLDUN_MODEL"], s.Env["KOLDUN_SERVED_NAME"] = l.Model, l.ServedName
	return s
}

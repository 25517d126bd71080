// Package openai describes OpenAI-compatible servers: an image of the user's, or a
// server that runs elsewhere, which the sidecar drives.
//
// A server in the root's pod listens on loopback, where only the sidecar reaches
// it: many servers have routes that no key guards. Package profile has what
// differs between servers.
package openai

import (
	"cmp"
	"fmt"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/engine/openai/profile/gateway"
	"github.com/gorizond/koldun/internal/engine/openai/profile/generic"
	"github.com/gorizond/koldun/internal/fault"
)

// Engine returns the description without a server: that of a claim comes from
// Configured. No image selects the engine.
func Engine() engine.Engine {
	e := server{generic.Profile(), engine.Server{}}.engine()
	e.Configured = configured
	return e
}

// A server is a profile and what a claim says.
type server struct {
	profile profile.Profile
	claim   engine.Server
}

// configured returns the engine of a claim's server.
func configured(claim engine.Server) (engine.Engine, error) {
	p, err := profileOf(claim)
	if err != nil {
		return engine.Engine{}, err
	}
	s := server{p, claim}
	if problem := s.unfit(); problem != "" {
		return engine.Engine{}, fault.Errorf(fault.Invalid, "%s", problem)
	}
	return s.engine(), nil
}

func profileOf(claim engine.Server) (profile.Profile, error) {
	if claim.Gateway {
		return gateway.Profile(), nil
	}
	return ByName(claim.Profile)
}

// unfit says what of the claim the server cannot do; empty if nothing.
func (s server) unfit() string {
	switch {
	case s.claim.Threads > 1 && (!s.profile.Threads || s.claim.External()):
		return fmt.Sprintf("threads: %s has no number of threads to set: use server.args or server.env", s.profile.Name)
	case s.claim.SeqLen > 0 && !s.hasContext():
		return fmt.Sprintf("maxSeqLen: %s has no longest context to set: use server.args or server.env", s.profile.Name)
	case s.claim.Downloads && s.profile.Unfit != nil:
		return prefixed("server.model: ", s.profile.Unfit(true, s.claim.Model))
	}
	return ""
}

func prefixed(prefix, problem string) string {
	if problem == "" {
		return ""
	}
	return prefix + problem
}

func (s server) hasContext() bool { return s.profile.Context && !s.claim.External() }

func (s server) engine() engine.Engine {
	e := engine.Engine{
		Name:       "openai",
		Selects:    func(engine.Wish) bool { return false },
		Image:      s.profile.Image,
		MaxNodes:   1,
		Slots:      s.slots(),
		Parameters: either(s.claim.Parameters, s.profile.Parameters),
		Guarded:    !s.claim.External(),
		Reads:      s.claim.Reads(),
		API: &engine.API{
			URL:        s.claim.URL,
			ServedName: s.servedName,
			Operations: either(s.claim.Operations, s.profile.Operations),
			Features:   either(s.claim.Features, s.profile.Features),
			Load:       s.profile.Load,
			Context:    s.hasContext(),
			Spreading:  spreading(),
		},
		Root: s.root,
	}
	if s.profile.Spreads && !s.claim.External() {
		e.MaxNodes, e.Grouped, e.Worker = 0, true, s.worker
	}
	if s.profile.Unfit != nil && !s.claim.External() {
		e.Unfit = func(file string) string { return s.profile.Unfit(s.claim.Downloads, s.model(file)) }
	}
	return e
}

func (s server) slots() int { return cmp.Or(s.claim.Slots, s.profile.Slots) }

// model is what the server loads: an id, or a path.
func (s server) model(path string) string {
	if s.claim.Downloads {
		return s.claim.Model
	}
	return path
}

// servedName is the name that the claim gives, else the profile's.
func (s server) servedName(path, model string) string {
	switch {
	case s.claim.ServedName != "":
		return s.claim.ServedName
	case s.claim.External():
		return cmp.Or(s.claim.Model, model)
	case s.profile.ServedName != nil:
		return s.profile.ServedName(s.claim.Downloads, s.model(path), model)
	}
	return model
}

func either(claimed, profiles []string) []string {
	if len(claimed) > 0 {
		return claimed
	}
	return profiles
}

// Package catalog lists the engines and chooses the engine of a claim.
package catalog

import (
	"strings"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/distributedllama"
	"github.com/gorizond/koldun/internal/engine/embedded"
	"github.com/gorizond/koldun/internal/engine/openai"
	"github.com/gorizond/koldun/internal/fault"
)

// Engines returns all engines. A claim that names no engine gets the first one
// that its images select.
func Engines() []engine.Engine {
	return []engine.Engine{
		embedded.Engine(),
		distributedllama.Engine(),
		openai.Engine(),
	}
}

// Names returns the names of all engines.
func Names() []string {
	var out []string
	for _, e := range Engines() {
		out = append(out, e.Name)
	}
	return out
}

// ByName returns the engine of that name. The error is Invalid.
func ByName(name string) (engine.Engine, error) {
	for _, e := range Engines() {
		if e.Name == name {
			return e, nil
		}
	}
	return engine.Engine{}, fault.Errorf(fault.Invalid, "engine %q is not one of %s", name, strings.Join(Names(), ", "))
}

// Choose returns the engine of a claim: the one that it names, else the first
// one that its images select. Empty strings name nothing. The error is Invalid.
func Choose(name string, images ...string) (engine.Engine, error) {
	if name != "" {
		return ByName(name)
	}
	var named []string
	for _, image := range images {
		if image != "" {
			named = append(named, image)
		}
	}
	for _, e := range Engines() {
		if e.Selects(named) {
			return e, nil
		}
	}
	return engine.Engine{}, fault.Errorf(fault.Invalid, "no engine runs the images %s: name one of %s", strings.Join(named, ", "), strings.Join(Names(), ", "))
}

// Spreading returns the names of the engines that run on more than one node,
// for messages that say which image to name.
func Spreading() string {
	var out []string
	for _, e := range Engines() {
		if e.Worker != nil {
			out = append(out, e.Name)
		}
	}
	return strings.Join(out, " or ")
}

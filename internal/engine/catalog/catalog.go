// Package catalog lists the engines and chooses the engine of a claim.
package catalog

import (
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/distributedllama"
	"github.com/gorizond/koldun/internal/engine/embedded"
	"github.com/gorizond/koldun/internal/engine/openai"
	"github.com/gorizond/koldun/internal/fault"
)

// Engines returns all engines. A claim that names no engine gets the first one
// that its images and its number of nodes select.
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

// A Claim is what selects an engine.
type Claim struct {
	Engine string // by name; empty leaves the choice to the rest
	Nodes  int    // 0 if not known yet
	Koldun string // Koldun's own image, which stands for no engine; empty is a release's
	Images []string
}

// Choose returns the engine of a claim: the one that it names, else the first
// one that its images and nodes select. Empty strings name nothing. The error is
// Invalid.
func Choose(c Claim) (engine.Engine, error) {
	if c.Engine != "" {
		return ByName(c.Engine)
	}
	w := engine.Wish{Nodes: c.Nodes}
	for _, image := range c.Images {
		if image != "" && !engine.OwnImage(image, c.Koldun) {
			w.Images = append(w.Images, image)
		}
	}
	for _, e := range Engines() {
		if e.Selects(w) {
			return e, nil
		}
	}
	return engine.Engine{}, fault.Errorf(fault.Invalid, "no engine runs the images %s: name one of %s", strings.Join(w.Images, ", "), strings.Join(Names(), ", "))
}

// Spreading returns the names of the engines that run on more than one node,
// for messages that say which engine to name.
func Spreading() string {
	var out []string
	for _, e := range Engines() {
		if e.Worker != nil {
			out = append(out, e.Name)
		}
	}
	return strings.Join(out, " or ")
}

// OwnImage reports whether Koldun runs an image by itself as an engine: its own in any version,
// or that of an engine or server in the version that Koldun runs. koldun is Koldun's own image.
func OwnImage(image, koldun string) bool {
	if engine.OwnImage(image, koldun) {
		return true
	}
	images := openai.Images()
	for _, e := range Engines() {
		images = append(images, e.Image)
	}
	return image != "" && slices.Contains(images, image)
}

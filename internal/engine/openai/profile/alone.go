package profile

import (
	"encoding/json"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// Alone describes a server without a sidecar: behind a Service of its own, on the
// port that its users know.
type Alone struct {
	// Image is in place of the profile's; empty is that.
	Image string
	Port  int32
	// Models is how many models the server takes.
	Models Number
	// Ready and Live are the paths of GET requests that succeed when the server is.
	Ready, Live string
	// Flags are the arguments of the only model, after those of Profile.Start. Without
	// them the server takes no revision, number format or quantization.
	Flags func(Model) []string
	// ServedNames returns the names by which clients ask for a model, as far as they are
	// known: a configuration may have several. Nil: as Profile.ServedName, of a server that
	// gets one model.
	ServedNames func(Model) []string
	// Start returns how the server is started. The error is Invalid. Nil: as by
	// Profile.Start, with the only model.
	Start func(Deployment) (Start, error)
}

// A Number is how many models a server takes.
type Number int

// Numbers of models.
const (
	OneModel   Number = iota
	ManyModels        // at least one
	NoModels          // the server gets its models by itself
)

// A Model is one that a server loads.
type Model struct {
	// Name is that by which clients ask for it, if the server is told one. Named is
	// whether the claim gives one, or the model's map.
	Name  string
	Named bool
	// URI is where it is: a path of a file or folder if File, else what the server
	// downloads.
	URI  string
	File bool

	Revision, DataType, Quantization string
	// Config are the server's configurations of the model, as JSON.
	Config []json.RawMessage
}

// A Deployment is what a server alone is started with.
type Deployment struct {
	Models []Model
	// Host and Port are the address to listen on. Folder is for the models that the
	// server downloads, which may outlive the pod, or holds those that are there.
	Host, Port, Folder string
	SeqLen, GPUs       int
}

// Deploy returns how the server is started alone. The error is Invalid.
func (p Profile) Deploy(d Deployment) (Start, error) {
	if err := p.distinct(d.Models); err != nil {
		return Start{}, err
	}
	if p.Alone.Start != nil {
		return p.Alone.Start(d)
	}
	m := d.Models[0]
	s := p.Start(Launch{
		Model: m.URI, Downloads: !m.File, ServedName: p.servedAlone(m), Host: d.Host, Port: d.Port,
		SeqLen: d.SeqLen, Slots: p.Slots, GPUs: d.GPUs, Nodes: 1, Rank: "0",
	})
	if p.Alone.Flags != nil {
		s.Args = append(s.Args, p.Alone.Flags(m)...)
	}
	return s, nil
}

// NamesAlone returns the names by which clients of the server alone ask for a model, or
// what the claim calls it if the server has other names, which are not known.
func (p Profile) NamesAlone(m Model) []string {
	if p.Alone.ServedNames == nil {
		return []string{p.servedAlone(m)}
	}
	if known := p.Alone.ServedNames(m); len(known) > 0 {
		return known
	}
	return []string{m.Name}
}

// distinct refuses models of one name, which clients could not tell apart.
func (p Profile) distinct(models []Model) error {
	if p.Alone.ServedNames == nil {
		return nil
	}
	first := map[string]int{}
	for i, m := range models {
		for _, name := range p.Alone.ServedNames(m) {
			if j, taken := first[name]; taken {
				return fault.Errorf(fault.Invalid, "[%d] and [%d] are both called %q, so clients cannot tell them apart: %s", j, i, name, rename(models[j], m))
			}
			first[name] = i
		}
	}
	return nil
}

// rename says how one of two models gets another name.
func rename(a, b Model) string {
	switch {
	case len(a.Config) > 0 || len(b.Config) > 0:
		return "change the name in the engineConfigFile of one"
	case a.Named && b.Named:
		return "leave out options.servedName, and give each variant of an AIModelMap once"
	default:
		return "give each a modelMapRef, whose map or variant names it"
	}
}

// servedAlone is the name that the server is started with, or that it has by itself.
func (p Profile) servedAlone(m Model) string {
	if p.ServedName == nil {
		return m.Name
	}
	return p.ServedName(!m.File && !m.Named, m.URI, m.Name)
}

// Given returns the flags that have a value, of pairs of flag and value.
func Given(pairs ...string) []string {
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, pairs[i]+pairs[i+1])
		}
	}
	return out
}

// IsURL reports whether a model is at a URL.
func IsURL(uri string) bool {
	return strings.HasPrefix(uri, "https://") || strings.HasPrefix(uri, "http://")
}

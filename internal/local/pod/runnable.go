package pod

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/fault"
)

// A Host says which containers a machine runs.
type Host struct {
	// Image is Koldun's own image: its containers run the machine's binary.
	Image string
	// Program returns why the machine cannot run a program of another image that
	// Koldun supervises, or nil. If it is nil, the machine runs none.
	Program func(name string) error
	// Servers are the programs that containers may run by their names, and why the
	// machine cannot run them, or nil.
	Servers map[string]error
}

// Runnable returns why a pod cannot run here, or nil: an Unsupported error that
// names every container that cannot.
func (h Host) Runnable(s Spec) error {
	var reasons []string
	foreign := false
	for _, c := range slices.Concat(s.InitContainers, s.Containers) {
		own := engine.OwnImage(c.Image, h.Image)
		program, supervised := supervisedProgram(c)
		switch {
		case own && ownCommand(c.Command):
		case own:
			reasons = append(reasons, "container "+strconv.Quote(c.Name)+" has command "+strconv.Quote(strings.Join(c.Command, " ")))
		case supervised && h.Program != nil:
			if err := h.Program(program); err != nil {
				reasons = append(reasons, "container "+strconv.Quote(c.Name)+": "+err.Error())
			}
		case h.serves(c.Image, s):
			if err := h.Servers[serverOf(c)]; err != nil {
				reasons = append(reasons, "container "+strconv.Quote(c.Name)+": "+err.Error())
			}
		default:
			foreign = true
			reasons = append(reasons, "container "+strconv.Quote(c.Name)+" has image "+strconv.Quote(c.Image))
		}
	}
	if len(s.Containers) == 0 {
		reasons = append(reasons, "it has no containers")
	}
	text := strings.Join(reasons, ", ")
	switch {
	case text == "":
		return nil
	case foreign:
		return fault.Errorf(fault.Unsupported, "%s; only koldun itself (image %q), distributed-llama and Ollama run here: for a server that runs already, name its URL in spec.engine.server.url", text, h.Image)
	}
	return fault.Errorf(fault.Unsupported, "%s", text)
}

// serves reports whether an image is that of a server that may run here. Then its shell is
// the machine's: it prepares the server.
func (h Host) serves(image string, s Spec) bool {
	known := false
	for _, c := range slices.Concat(s.InitContainers, s.Containers) {
		if c.Image != image {
			continue
		}
		_, server := h.Servers[serverOf(c)]
		if !server && serverOf(c) != shell {
			return false
		}
		known = known || server
	}
	return known
}

const shell = "/bin/sh"

// serverOf is the program that a container names; empty if it leaves that to the image.
func serverOf(c Container) string {
	if len(c.Command) == 0 {
		return ""
	}
	return c.Command[0]
}

// supervisedProgram returns the program that a container runs below Koldun's
// supervisor, which an init container has copied to a volume.
func supervisedProgram(c Container) (name string, ok bool) {
	if len(c.Command) != 1 || !strings.HasSuffix(c.Command[0], "/koldun") || len(c.Args) == 0 || c.Args[0] != "supervise" {
		return "", false
	}
	i := slices.Index(c.Args, "--")
	if i < 0 || i+1 == len(c.Args) {
		return "", false
	}
	return c.Args[i+1], true
}

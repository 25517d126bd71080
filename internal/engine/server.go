package engine

import "time"

// A Server is what a claim says of an OpenAI-compatible server. Empty fields
// leave the choice to the profile of the server.
type Server struct {
	Profile string
	// Gateway means that the server is a gateway of Koldun, in place of a profile.
	Gateway bool
	// URL is the base of a server outside the pods.
	URL string
	// Downloads means that the server downloads the model itself.
	Downloads bool
	// Model is the id that the server downloads, or a path in the model's files.
	Model      string
	ServedName string
	Command    []string
	Args       []string // after those of the profile
	Port       int32
	Slots      int
	// Operations, Parameters and Features replace those of the profile.
	Operations, Parameters, Features []string
	SharedMemory                     string   // size of /dev/shm, as Kubernetes writes it
	Writable                         []string // folders of the image that the server writes to
	User                             *int64
	Startup                          time.Duration
	Threads, SeqLen                  int32 // 0: the server's choice
}

// External reports whether the server runs outside the pods.
func (s Server) External() bool { return s.URL != "" }

// Reads says which files of a Model the server loads.
func (s Server) Reads() Files {
	if s.External() || s.Downloads {
		return FilesNone
	}
	return FilesSource
}

// An API describes the OpenAI-compatible API of an engine to the sidecar.
type API struct {
	// URL is the base of the API outside the pods. Empty: it is at PortEngine of
	// the root's pod.
	URL string
	// ServedName returns the name by which the server knows the model that it loads
	// from a path, for a name of the Model.
	ServedName func(path, model string) string
	// Operations and Features are those that the server offers, as package openai
	// names them.
	Operations, Features []string
	// Load names the metrics that say how busy the server is.
	Load LoadMetrics
	// Context means that Koldun sets the longest context of the server.
	Context bool
	// Spreading lists the profiles that run on more nodes than one, for messages.
	Spreading string
}

// External reports whether the engine is a server outside the pods.
func (e Engine) External() bool { return e.API != nil && e.API.URL != "" }

// LoadMetrics are the names of a server's metrics, in Prometheus' text format at
// /metrics, that count the requests that it computes and those that wait in it.
// Both are empty if it has none.
type LoadMetrics struct {
	Running, Waiting string
}

// Known reports whether the server has such metrics.
func (m LoadMetrics) Known() bool { return m.Running != "" && m.Waiting != "" }

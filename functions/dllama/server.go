package dllama

import (
	"fmt"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/network/egress"
)

// hubPort is the port of the hubs and registries from which servers download models.
const hubPort = 443

// A server is the upstream of a claim that describes an OpenAI-compatible server, in the
// pods or outside of them.
type server struct {
	claim
	configured engine.Engine
}

func (s server) reads() engine.Files { return s.configured.Reads }

func (s server) standIn(m v1.Model, found bool) *v1.ServedArtifact {
	if !found || s.reads() != engine.FilesNone {
		return nil
	}
	return &v1.ServedArtifact{Model: s.modelPath(), LaunchOptions: m.Spec.LaunchOptions, ReplicaPower: m.Spec.ReplicaPower}
}

func (s server) describe(v1.ModelSpec) (annotations map[string]string, problem string, err error) {
	return nil, "", nil
}

func (s server) engineOn(nodes int32) (e engine.Engine, problem string) {
	return s.sized(s.configured, s.Spec.Engine.Slots, nodes)
}

func (s server) additions() additions {
	spec := s.Spec.Engine.Server
	out := additions{
		apiKey: spec.APIKeySecretRef, env: workload.Vars(spec.Env), cache: workload.CacheSource(spec.Cache),
		ports: egress.Union(workload.EnvOf(spec.Env, nil).Ports(), egress.Mentioned(strings.Join(spec.Command, " "), strings.Join(spec.Args, " "))),
	}
	switch {
	case s.configured.External():
		out.ports = append(out.ports, egress.Mentioned(s.configured.API.URL)...)
	case s.reads() == engine.FilesNone:
		out.ports = append(out.ports, hubPort)
	case s.reads() == engine.FilesSource:
		out.file = spec.Model
	}
	return out
}

// registers makes the registry for a model that no Model lists.
func (s server) registers(via managed.Via) map[string]any {
	if !s.alone() {
		return nil
	}
	return map[string]any{resRegistry: managed.Registry(via, s.Namespace, s.registryName())}
}

func (s server) awaits() string {
	if !s.configured.External() {
		return ""
	}
	return fmt.Sprintf("the server at %q has not generated a token yet; see kubectl logs -n %s %s-0", s.configured.API.URL, s.Namespace, s.rootName())
}

func serverOf(e v1.Engine) engine.Server {
	s := *e.Server
	out := engine.Server{
		Profile:    string(s.Profile),
		URL:        s.URL,
		Downloads:  s.Source == sourceDownload,
		Model:      s.Model,
		ServedName: s.ServedName,
		Command:    s.Command,
		Args:       s.Args,
		Port:       s.Port,
		Slots:      int(s.Slots),
		Operations: s.Operations,
		Parameters: s.Parameters,
		Features:   s.Features,
		Writable:   s.Writable,
		User:       s.RunAsUser,
		Threads:    e.Threads,
		SeqLen:     e.MaxSeqLen,
	}
	if s.SharedMemory != nil {
		out.SharedMemory = s.SharedMemory.String()
	}
	if s.StartupTimeout != nil {
		out.Startup = s.StartupTimeout.Duration
	}
	return out
}

package dllama

import (
	"cmp"
	"fmt"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/catalog"
)

// Values of fields of the API.
const (
	typeServer     = v1.EngineType("openai")
	sourceDownload = "download"
	conversionNone = "None"
)

// configure finds the engine of a claim with a server, which says whether there is a
// Model at all and which of its files are needed. The engines of other claims are
// chosen when the Model is known. If the server cannot run the claim, what exists
// of the Model stays.
func (p *dllamaPlan) configure() (compose.Next, error) {
	var server engine.Server
	switch s := p.Spec.Engine; {
	case p.asks():
		var next compose.Next
		if server, next = p.gateway(); next == compose.Stop {
			return next, nil
		}
	case s.Server == nil:
		return compose.Continue, nil
	default:
		server = serverOf(s)
	}
	chosen, problem := configured(cmp.Or(p.Spec.Engine.Type, typeServer), server)
	if problem == "" {
		problem = p.ineffective(chosen)
	}
	if problem == "" {
		p.engine = chosen
	} else {
		p.refused = true
		p.engine = engine.Engine{Reads: server.Reads()}
		p.Fail(reason.TopologyInvalid, "%s", problem)
	}
	return compose.Continue, nil
}

func configured(kind v1.EngineType, server engine.Server) (chosen engine.Engine, problem string) {
	chosen, err := catalog.ByName(string(kind))
	switch {
	case err != nil:
		return chosen, fmt.Sprintf("spec.engine.type: %v", err)
	case chosen.Configured == nil:
		return chosen, fmt.Sprintf("spec.engine.server: the %s engine is no server", chosen.Name)
	}
	if chosen, err = chosen.Configured(server); err != nil {
		return chosen, fmt.Sprintf("spec.engine.%v", err)
	}
	return chosen, ""
}

// ineffective names a field that has no effect on the engine.
func (p *dllamaPlan) ineffective(e engine.Engine) string {
	s := p.Spec
	external := e.External()
	for _, f := range []struct {
		given bool
		name  string
		why   string
	}{
		{external && s.RootImage != "", "rootImage", "a server outside the pods has no image"},
		{external && s.WorkerImage != "", "workerImage", "a server outside the pods has no image"},
		{external && s.RootResources != nil, "rootResources", "a server outside the pods takes none"},
		{external && s.WorkerResources != nil, "workerResources", "a server outside the pods takes none"},
		{e.Memory == nil && s.RootMemory != nil, "rootMemory", "there is no memory plan: use rootResources"},
		{e.Reads == engine.FilesNone && s.Delivery != "", "delivery", "the engine gets its model by itself"},
		{e.Reads == engine.FilesSource && s.Model != nil && converts(*s.Model), "model.conversion", "the engine loads the source files: leave conversion out"},
	} {
		if f.given {
			return fmt.Sprintf("spec.%s: it has no effect, because %s", f.name, f.why)
		}
	}
	if e.API != nil && !external && s.RootImage == "" && s.WorkerImage == "" && e.Image == "" {
		return "spec.rootImage: the profile has no image of its own: name one"
	}
	return ""
}

// converts reports whether a Model says what its files are converted to.
func converts(m v1.ModelSpec) bool {
	c := m.Conversion
	return c != nil && c.Type != conversionNone && (c.Type != "" || c.WeightsFloatType != "" || c.ConvertWeights != "" || c.OutputPath != "" || c.Memory != nil)
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

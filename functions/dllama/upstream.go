package dllama

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/managed"
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

// An upstream computes the answers of a Dllama: an engine of Koldun, a server that the claim
// describes, or the gateway of another namespace.
type upstream interface {
	// reads says which files of the Model it loads.
	reads() engine.Files
	// standIn stands for the files of a Model of which it loads none; nil if it loads
	// files, or if the Model has to be found and is not.
	standIn(m v1.Model, found bool) *v1.ServedArtifact
	// describe returns how an inline Model is to run, as annotations of the Model, or why
	// no model can run so.
	describe(spec v1.ModelSpec) (annotations map[string]string, problem string, err error)
	// engineOn returns the engine for a number of nodes, or why it does not run on them.
	engineOn(nodes int32) (e engine.Engine, problem string)
	// additions are what the claim says for it alone.
	additions() additions
	// registers returns what it needs in NATS, by the names of the composed resources.
	registers(via managed.Via) map[string]any
	// awaits says what a root that is not ready waits for; empty if it loads the model.
	awaits() string
}

// additions to the pods for an upstream. The zero value adds nothing.
type additions struct {
	file   string                 // in the Model's files, in place of the one that the Model names
	apiKey *v1.SecretKeyReference // of the upstream
	env    []corev1.EnvVar        // of the engine's container
	cache  *corev1.VolumeSource   // of the engine
	ports  []int32                // to which the root connects
}

// chooseUpstream decides what computes the answers. nil is nothing that the claim could run
// on. A server or gateway is known before the Model, and says whether there is one at all and
// which of its files are needed. If it cannot run the claim, that is refused, and what exists
// of the Model stays.
func (d *dllama) chooseUpstream() (up upstream, refused bool) {
	problem := ""
	switch e := d.Spec.Engine; {
	case d.Spec.IngressRef != nil:
		server, found := d.findGateway()
		if !found {
			d.keepRunning()
			return nil, false
		}
		g := otherGateway{claim: d.claim, keeps: d.Known(resModel) && d.running()}
		g.configured, problem = configure(d.Spec, server)
		up = g
	case e.Server != nil:
		s := server{claim: d.claim}
		s.configured, problem = configure(d.Spec, serverOf(e))
		up = s
	default:
		up = ownEngine{d.claim, d.Image}
	}
	if problem != "" {
		d.Fail(reason.TopologyInvalid, "%s", problem)
	}
	return up, problem != ""
}

// configure returns the engine for a server, or why it cannot run the claim, and then only
// which files the server reads.
func configure(s v1.DllamaSpec, server engine.Server) (e engine.Engine, problem string) {
	e, problem = configured(cmp.Or(s.Engine.Type, typeServer), server)
	if problem == "" {
		problem = ineffective(s, e)
	}
	if problem != "" {
		return engine.Engine{Reads: server.Reads()}, problem
	}
	return e, ""
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
func ineffective(s v1.DllamaSpec, e engine.Engine) string {
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

// sized returns an engine with a number of slots, or why it does not run so on some nodes.
func (c claim) sized(e engine.Engine, slots, nodes int32) (sized engine.Engine, problem string) {
	sized, err := e.WithSlots(int(slots))
	if err != nil {
		return sized, fmt.Sprintf("spec.engine.slots: %v", err)
	}
	if err := sized.CheckNodes(int(nodes)); err != nil {
		field, one := c.nodesField()
		return sized, fmt.Sprintf("%s: %v: use %d, or %s", field, err, one, moreNodes(sized))
	}
	return sized, ""
}

// moreNodes says what a claim has to name for more nodes than its engine runs on.
func moreNodes(e engine.Engine) string {
	if api := e.API; api != nil {
		return "a server of profile " + api.Spreading + " in the pods"
	}
	return "spec.engine.type " + catalog.Spreading()
}

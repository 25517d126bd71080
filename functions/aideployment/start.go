package aideployment

import (
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/names"
)

// Names of the port and volumes of a pod.
const (
	portHTTP     = "http"
	volumeModels = "models"
	volumeConfig = "config"
	// modelsFolder is where the volume with the models is mounted.
	modelsFolder = "/models"
)

// alone is an engine as a Deployment behind a Service.
type alone struct {
	*plan
	engine  engineSpec
	volume  string // PersistentVolumeClaim with the models; empty is none
	port    int32  // of the engine
	started profile.Start
}

// refuse fails because of what the claim says. Nothing that exists is changed. Domains lead to
// the port of the engine if the Service has none.
func (a *alone) refuse(format string, args ...any) (compose.Next, error) {
	a.fail(reason.DeploymentInvalid, format, args...)
	return compose.Stop, a.keep(a.port)
}

// start asks the profile how the server is started.
func (p *plan) start(e engineSpec, models []model, volume string) (a *alone, next compose.Next, err error) {
	known := e.profile
	a = &alone{plan: p, engine: e, volume: volume, port: known.Alone.Port}
	if known.Alone.Models == profile.NoModels {
		if a.port = e.genericPort(); a.port == 0 {
			next, err = a.refuse("spec.endpoint: the port is missing: give it there, or as a port or probe of the first container of spec.deployment.template")
			return a, next, err
		}
		return a, compose.Continue, nil
	}
	d := profile.Deployment{
		Host: "$(" + names.EnvEngineHost + ")", Port: names.PortRef(portHTTP), Folder: a.folder(),
		SeqLen: int(p.d.Spec.Engine.MaxSeqLen), GPUs: int(e.gpus()),
	}
	if d.SeqLen > 0 && !known.Context {
		next, err = a.refuse("spec.engine.maxSeqLen: engine %s has no longest context to set: use spec.args or spec.env", known.Name)
		return a, next, err
	}
	for _, m := range models {
		if problem := e.unpinned(m); problem != "" {
			next, err = a.refuse("%s", problem)
			return a, next, err
		}
		d.Models = append(d.Models, e.loaded(m))
	}
	if unfit := known.Unfit; unfit != nil && known.Alone.Start == nil {
		if problem := unfit(!d.Models[0].File, d.Models[0].URI); problem != "" {
			next, err = a.refuse("spec.models[0].uri: %s", problem)
			return a, next, err
		}
	}
	if a.started, err = known.Deploy(d); err != nil {
		next, err = a.refuse("spec.models: %v", err)
		return a, next, err
	}
	return a, compose.Continue, nil
}

// folder is for the models that a server downloads: in the cache, if there is one that
// outlives the pod. With a claim it holds the models.
func (a *alone) folder() string {
	if a.volume == "" && a.d.Spec.Cache != nil {
		return names.DirRef(engine.VolumeCache) + "/models"
	}
	return names.DirRef(volumeModels)
}

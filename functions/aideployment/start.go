package aideployment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
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

// source finds the volume with the models.
func (p *plan) source() (compose.Next, error) {
	s := p.d.Spec.ModelSource
	switch {
	case s == nil:
	case s.PVC != nil:
		p.claim = s.PVC.ClaimName
	case s.ModelDownloadRef != nil:
		var m v1.ModelDownload
		found, known := p.Require("download", v1.APIVersion, v1.KindModelDownload, p.d.Namespace, s.ModelDownloadRef.Name, &m)
		if !known || !found {
			p.fail(reason.ModelNotFound, "spec.modelSource.modelDownloadRef: ModelDownload %q does not exist in namespace %q", s.ModelDownloadRef.Name, p.d.Namespace)
			return compose.Stop, p.keep()
		}
		p.claim = m.Spec.StoragePVC
		for i, model := range p.models {
			if problem := unloaded(m, model.URI); problem != "" && !p.served(model.URI) {
				p.fail(reason.ModelPending, "spec.models[%d].uri: ModelDownload %q %s", i, m.Name, problem)
				return compose.Stop, p.keep()
			}
		}
	}
	return compose.Continue, nil
}

// served reports whether what exists was started with the model: it serves on with the
// files that it has.
func (p *plan) served(uri string) bool {
	return (p.Exists(resDeployment) || p.Exists(resDllama)) &&
		slices.ContainsFunc(p.d.Status.ResolvedModels, func(m v1.AIResolvedModel) bool { return m.URI == uri })
}

// unloaded says that a ModelDownload has not completed the model of a path; empty if it
// has, or if none of its models is there.
func unloaded(d v1.ModelDownload, uri string) string {
	for _, m := range d.Spec.Models {
		folder := cmp.Or(m.SubPath, m.Name)
		if (uri == folder || strings.HasPrefix(uri, folder+"/")) && !slices.Contains(d.Status.Completed, m.Name) {
			return fmt.Sprintf("has not completed model %q yet: see its status", m.Name)
		}
	}
	return ""
}

// start asks the profile how the server is started.
func (p *plan) start() (compose.Next, error) {
	p.port = p.profile.Alone.Port
	if p.profile.Alone.Models == profile.NoModels {
		if p.port = p.genericPort(); p.port == 0 {
			return p.refuse("spec.endpoint: the port is missing: give it there, or as a port or probe of the first container of spec.deployment.template")
		}
		p.started = profile.Start{}
		return compose.Continue, nil
	}
	d := profile.Deployment{
		Host: "$(" + names.EnvEngineHost + ")", Port: names.PortRef(portHTTP), Folder: p.folder(),
		SeqLen: int(p.d.Spec.Engine.MaxSeqLen), GPUs: int(p.gpus()),
	}
	if d.SeqLen > 0 && !p.profile.Context {
		return p.refuse("spec.engine.maxSeqLen: engine %s has no longest context to set: use spec.args or spec.env", p.profile.Name)
	}
	for _, m := range p.models {
		if problem := p.unpinned(m); problem != "" {
			return p.refuse("%s", problem)
		}
		d.Models = append(d.Models, p.loaded(m))
	}
	if unfit := p.profile.Unfit; unfit != nil && p.profile.Alone.Start == nil {
		if problem := unfit(!d.Models[0].File, d.Models[0].URI); problem != "" {
			return p.refuse("spec.models[0].uri: %s", problem)
		}
	}
	var err error
	if p.started, err = p.profile.Deploy(d); err != nil {
		return p.refuse("spec.models: %v", err)
	}
	return compose.Continue, nil
}

// folder is for the models that a server downloads: in the cache, if there is one that
// outlives the pod. With a claim it holds the models.
func (p *plan) folder() string {
	if p.claim == "" && p.d.Spec.Cache != nil {
		return names.DirRef(engine.VolumeCache) + "/models"
	}
	return names.DirRef(volumeModels)
}

// unpinned says that an engine takes no revision of a model; empty if there is none to
// take.
func (p *plan) unpinned(m model) string {
	if m.Revision == "" || p.profile.Alone.Flags != nil {
		return ""
	}
	return sprintf("spec.models: engine %s takes no revision, and model %q has revision %q: leave it out, or name the version in the uri, as the engine does", p.profile.Name, m.Name, m.Revision)
}

// loaded is a model as the profile loads it.
func (p *plan) loaded(m model) profile.Model {
	out := profile.Model{
		Name: m.Name, Named: m.named, URI: m.URI, File: p.d.Spec.ModelSource != nil, Revision: m.Revision, DataType: m.DataType, Quantization: m.Quantization, Config: m.config,
	}
	if out.File {
		out.URI = names.DirRef(volumeModels) + "/" + m.URI
	}
	return out
}

// genericPort is the port of the first endpoint, else that of the container; 0 is
// none.
func (p *plan) genericPort() int32 {
	if e := p.d.Spec.Endpoint; len(e) > 0 && e[0].Port != nil {
		return *e[0].Port
	}
	patch, err := p.patch()
	if err != nil || len(patch.Spec.Containers) == 0 {
		return 0
	}
	c := patch.Spec.Containers[0]
	if len(c.Ports) > 0 {
		return c.Ports[0].ContainerPort
	}
	for _, probe := range []*corev1.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		if probe != nil && probe.HTTPGet != nil && probe.HTTPGet.Port.IntVal > 0 {
			return probe.HTTPGet.Port.IntVal
		}
	}
	return 0
}

// image is the one of the profile, with what the claim gives in its place.
func (p *plan) image() string {
	image := p.profile.Image
	if !p.queued() {
		image = cmp.Or(p.profile.Alone.Image, image)
	}
	o := p.d.Spec.Engine.Options
	if o == nil {
		return image
	}
	repository, tag := image, ""
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		repository, tag = image[:i], image[i+1:]
	}
	if o.ImageRepository != "" {
		repository, tag = o.ImageRepository, cmp.Or(o.ImageTag, tag)
	}
	if tag = cmp.Or(o.ImageTag, tag); tag == "" || repository == "" {
		return repository
	}
	return repository + ":" + tag
}

// checksum of the configuration files; empty if there are none.
func (p *plan) checksum() (string, error) {
	if len(p.started.Files) == 0 {
		return "", nil
	}
	raw, err := json.Marshal(p.started.Files)
	return names.Hash(16, string(raw)), err
}

package aideployment

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/names"
)

// An engineSpec is an AIDeployment with the profile of the engine that it chooses.
type engineSpec struct {
	d       *v1.AIDeployment
	profile profile.Profile // zero for engines that are no servers
}

func (e engineSpec) generic() bool { return e.profile.Alone.Models == profile.NoModels }

// image is the one of the profile, with what the claim gives in its place.
func (e engineSpec) image() string {
	image := e.profile.Image
	if !Queued(e.d.Spec) {
		image = cmp.Or(e.profile.Alone.Image, image)
	}
	o := e.d.Spec.Engine.Options
	if o == nil {
		return image
	}
	pinned, _, _ := strings.Cut(image, "@")
	if o.ImageRepository == "" && (o.ImageTag == "" || strings.HasSuffix(pinned, ":"+o.ImageTag)) {
		return image
	}
	image = pinned // another image has another digest
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

// unversioned says that neither the engine nor the claim names a version of the image, which
// would be the newest one; empty if one does.
func (e engineSpec) unversioned() string {
	image := e.image()
	if image == "" || engine.RepositoryOf(image) != image {
		return ""
	}
	return fmt.Sprintf("spec.engine.options.imageTag: give the version of image %q to run: engine %s has none of its own", image, e.profile.Name)
}

// unpinned says that an engine takes no revision of a model; empty if there is none to
// take.
func (e engineSpec) unpinned(m model) string {
	if m.Revision == "" || e.profile.Alone.Flags != nil {
		return ""
	}
	return fmt.Sprintf("spec.models: engine %s takes no revision, and model %q has revision %q: "+
		"leave it out, or name the version in the uri, as the engine does", e.profile.Name, m.Name, m.Revision)
}

// loaded is a model as the profile loads it.
func (e engineSpec) loaded(m model) profile.Model {
	out := profile.Model{
		Name: m.Name, Named: m.named, URI: m.URI, File: e.d.Spec.ModelSource != nil, Revision: m.Revision,
		DataType: m.DataType, Quantization: m.Quantization, Config: m.config,
	}
	if out.File {
		out.URI = names.DirRef(volumeModels) + "/" + m.URI
	}
	return out
}

// genericPort is the port of the first endpoint, else of the container; 0 is none.
func (e engineSpec) genericPort() int32 {
	if e := e.d.Spec.Endpoint; len(e) > 0 && e[0].Port != nil {
		return *e[0].Port
	}
	patch, err := e.patch()
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

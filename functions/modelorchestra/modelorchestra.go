// Package modelorchestra composes a ModelOrchestra: a gateway and its applications,
// either of the vendor's image Takeoff or of Koldun's own kinds.
package modelorchestra

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/platform"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// Values of spec.backend.
const backendKoldun = "Koldun"

// Names of composed resources. Those with a dash at the end are followed by the name of
// the gateway or application that they belong to.
const (
	resAccount    = "serviceaccount"
	resMonitor    = "servicemonitor"
	resIngress    = "ingress"
	resDeployment = "deployment-"
	resConfig     = "config-"
	resService    = "service-"
	resScaler     = "scaler-"
	resModels     = "models-"
	resSession    = "session-"
	resModel      = "model-"
	resDllama     = "dllama-%d-"
)

// gateway is the name of the gateway among the applications, which cannot have it.
const gateway = "gateway"

// Compose answers one call for a ModelOrchestra.
func Compose(c *compose.Call) error {
	var o v1.ModelOrchestra
	if err := c.Composite(&o); err != nil {
		return err
	}
	p := &orchestraPlan{Plan: compose.Plan{Call: c}, o: o, status: v1.ModelOrchestraStatus{Status: v1.Status{ObservedGeneration: o.Generation}}}
	if err := p.compose(); err != nil {
		return err
	}
	return c.Finish(&p.status)
}

// An application is one that is merged with the template.
type application struct {
	v1.OrchestraApplication

	name string
}

// An orchestraPlan is one composition of one ModelOrchestra.
type orchestraPlan struct {
	compose.Plan
	o      v1.ModelOrchestra
	status v1.ModelOrchestraStatus
}

// A backend composes the gateway and the applications, which are in the order of names.
// It reports what is not ready, or refuses what it cannot run.
type backend interface {
	compose(applications []application) error
}

func (p *orchestraPlan) compose() error {
	var applications []application
	for _, name := range slices.Sorted(maps.Keys(p.o.Spec.Applications)) {
		merged, err := mergeApplication(p.o.Spec.ApplicationTemplate, p.o.Spec.Applications[name])
		if err != nil {
			return err
		}
		applications = append(applications, application{merged, name})
	}
	var on backend = takeoff{p}
	var given map[string]bool
	if p.o.Spec.Backend == backendKoldun {
		on, given = koldun{p}, withoutEffect(p.o.Spec)
	}
	p.Legacy(given)
	if p.Allow(p.o.Namespace, uses(p.o.Spec, applications)...) == compose.Stop {
		return nil
	}
	return on.compose(applications)
}

// full begins the names of all objects, as the vendor's chart has it.
func (p *orchestraPlan) full() string {
	s := p.o.Spec
	part := cmp.Or(s.NameOverride, "model-orchestra")
	switch {
	case s.FullnameOverride != "":
		return s.FullnameOverride
	case strings.Contains(p.o.Name, part):
		return p.o.Name
	}
	return p.o.Name + "-" + part
}

// name of a composed object.
func (p *orchestraPlan) name(component ...string) string {
	return names.Join(names.MaxLabel, append([]string{p.full()}, component...)...)
}

// add adds the state of an application to the status.
func (p *orchestraPlan) add(a application, model string, ready bool) {
	p.status.Applications = append(p.status.Applications, v1.OrchestraApplicationStatus{Name: a.name, Model: model, Ready: ready})
	p.status.Total++
	if ready {
		p.status.Available++
	}
}

// refuse sets the condition of a ModelOrchestra that cannot be composed, for a problem. If
// something exists, it is an error, so that Crossplane keeps what runs.
func (p *orchestraPlan) refuse(problem string) error {
	p.Fail(reason.ApplicationInvalid, "%s", problem)
	for range p.Resources("") {
		return fmt.Errorf("%s; what exists stays as it is", problem)
	}
	return nil
}

// uses lists what the platform team may keep to itself.
func uses(s v1.ModelOrchestraSpec, applications []application) []platform.Use {
	image := func(path string, pod v1.OrchestraPod) platform.Use {
		i := pod.Image
		switch {
		case i.Repository != "" && i.Repository != defaultRepository:
			return platform.Image(path+".image.repository", i.Repository)
		case i.Tag != "" && i.Tag != defaultVersion+"-cpu" && i.Tag != defaultVersion+"-gpu":
			return platform.Image(path+".image.tag", defaultRepository+":"+i.Tag)
		}
		return platform.Image(path+".image.repository", "")
	}
	out := []platform.Use{image("spec.gateway", s.Gateway.OrchestraPod)}
	for _, a := range applications {
		out = append(out, image("spec.applications."+a.name, a.OrchestraPod))
	}
	if s.Backend == backendKoldun { // its kinds say what their pods use
		return out
	}
	out = append(out, secrets("spec.gateway", s.Gateway.OrchestraPod)...)
	for _, a := range applications {
		path := "spec.applications." + a.name
		out = append(out, secrets(path, a.OrchestraPod)...)
		if ref := a.ReaderConfig.AccessTokenSecretRef; ref != nil {
			out = append(out, platform.ServerSecret(path+".readerConfig.accessTokenSecretRef", ref.Name))
		}
		if v := a.ModelsVolume; v != nil && v.Secret != nil {
			out = append(out, platform.ServerSecret(path+".modelsVolume.secret", v.Secret.SecretName))
		}
	}
	return out
}

// secrets lists the uses of Secrets of the vendor's pods.
func secrets(path string, pod v1.OrchestraPod) []platform.Use {
	out := platform.ServerSecrets(path, pod.Env, pod.EnvFrom)
	for _, v := range pod.Volumes {
		if v.Secret != nil {
			out = append(out, platform.ServerSecret(path+".volumes["+v.Name+"]", v.Secret.SecretName))
		}
	}
	return out
}

// report sets the condition by what is ready.
func (p *orchestraPlan) report(gatewayReady bool) {
	if !gatewayReady {
		p.Fail(reason.GatewayStarting, "The gateway %q is not ready yet", p.status.GatewayServiceName)
		return
	}
	for _, a := range p.status.Applications {
		if !a.Ready {
			p.Fail(reason.ApplicationsStarting, "Application %q has no ready replica yet", a.Name)
			return
		}
	}
	p.Serve(reason.Available, "%d applications are served at %s", p.status.Total, p.status.URL)
}

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
	steps := []compose.Step{p.merge, p.allow, p.plan, p.account, p.takeoffGateway, p.takeoffApplications, p.watch, p.report}
	if o.Spec.Backend == backendKoldun {
		steps = []compose.Step{p.merge, p.allow, p.check, p.koldunGateway, p.koldunApplications, p.report}
	}
	if err := p.Run(steps...); err != nil {
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

	applications []application // set by the step merge, in the order of names
	front        part          // set by the step plan, and so are the readers of applications
	readers      []part
	gatewayReady bool
	gateway      state   // of backend Koldun, like the states of the applications
	states       []state // in the order of applications
}

// merge merges the applications with the template.
func (p *orchestraPlan) merge() (compose.Next, error) {
	var given map[string]bool
	for _, name := range slices.Sorted(maps.Keys(p.o.Spec.Applications)) {
		merged, err := mergeApplication(p.o.Spec.ApplicationTemplate, p.o.Spec.Applications[name])
		if err != nil {
			return compose.Stop, err
		}
		p.applications = append(p.applications, application{merged, name})
	}
	if p.o.Spec.Backend == backendKoldun {
		given = withoutEffect(p.o.Spec)
	}
	p.Legacy(given)
	return compose.Continue, nil
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

// refuse sets the condition of a ModelOrchestra that cannot be composed. If something
// exists, it is an error, so that Crossplane keeps what runs.
func (p *orchestraPlan) refuse(format string, args ...any) (compose.Next, error) {
	p.Fail(reason.ApplicationInvalid, format, args...)
	for range p.Resources("") {
		return compose.Stop, fmt.Errorf(format+"; what exists stays as it is", args...)
	}
	return compose.Stop, nil
}

// allow refuses what the platform team keeps to itself.
func (p *orchestraPlan) allow() (compose.Next, error) {
	image := func(path string, pod v1.OrchestraPod) platform.Use {
		repository := pod.Image.Repository
		if repository == defaultRepository {
			repository = ""
		}
		return platform.Image(path+".image.repository", repository)
	}
	uses := []platform.Use{image("spec.gateway", p.o.Spec.Gateway.OrchestraPod)}
	for _, a := range p.applications {
		uses = append(uses, image("spec.applications."+a.name, a.OrchestraPod))
	}
	return p.Allow(p.o.Namespace, uses...), nil
}

// report sets the condition by what is ready.
func (p *orchestraPlan) report() (compose.Next, error) {
	for _, s := range append([]state{p.gateway}, p.states...) {
		if !s.serves {
			p.FailIf(s.why, s.message)
		}
	}
	if !p.gatewayReady {
		p.Fail(reason.GatewayStarting, "The gateway %q is not ready yet", p.status.GatewayServiceName)
	}
	for _, a := range p.status.Applications {
		if !a.Ready {
			p.Fail(reason.ApplicationsStarting, "Application %q has no ready replica yet", a.Name)
		}
	}
	p.Serve(reason.Available, "%d applications are served at %s", p.status.Total, p.status.URL)
	return compose.Continue, nil
}

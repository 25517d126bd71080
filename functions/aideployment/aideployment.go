// Package aideployment composes an AIDeployment: an engine with its models, alone
// as a Deployment behind a Service, or behind Koldun's queue as a Dllama.
package aideployment

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/platform"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/engine/catalog"
	"github.com/gorizond/koldun/internal/engine/openai"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/names"
)

// Names of the composed resources.
const (
	resDeployment = "deployment"
	resService    = "service"
	resConfig     = "config"
	resAutoscaler = "autoscaler"
	resIngress    = "ingress"
	resHTTPRoute  = "http-route"
	resDllama     = "dllama"
)

// Phases of the status, as prem-operator names them.
const (
	phaseReady    = "Ready"
	phaseNotReady = "NotReady"
	phaseFailed   = "Failed"
)

// Compose answers one call for an AIDeployment.
func Compose(c *compose.Call) error {
	var d v1.AIDeployment
	if err := c.Composite(&d); err != nil {
		return err
	}
	if d.Spec.Deployment == nil {
		d.Spec.Deployment = &v1.AIDeploymentPods{}
	}
	p := &plan{Plan: compose.Plan{Call: c}, d: d}
	p.status = v1.AIDeploymentStatus{Status: v1.Status{ObservedGeneration: d.Generation}, Phase: phaseNotReady}
	steps := []compose.Step{p.allow, p.chooseEngine, p.resolve, p.source}
	if p.queued() {
		steps = append(steps, p.dllama, p.endpoints)
	} else {
		steps = append(steps, p.start, p.deployment, p.service, p.autoscaler, p.endpoints, p.report)
	}
	if err := p.Run(steps...); err != nil {
		return err
	}
	c.Legacy(p.legacy())
	return c.Finish(&p.status)
}

// A plan is one composition of one AIDeployment.
type plan struct {
	compose.Plan
	d      v1.AIDeployment
	status v1.AIDeploymentStatus

	profile profile.Profile // set by the step chooseEngine, but for engines that are no servers
	models  []model         // set by the step resolve
	claim   string          // PersistentVolumeClaim with the models; set by the step source
	port    int32           // of the engine; set by the step start
	started profile.Start   // likewise
	kept    bool            // what exists stays, whatever the spec says; set by keep
	sum     string          // of all that a pod reads besides its template; set by the step start
}

// Queued reports whether Koldun's queue is before the engine of an AIDeployment. An engine
// that is no server has no other way to its requests.
func Queued(s v1.AIDeploymentSpec) bool { return s.Gateway != nil || spreads(s) }

// spreads reports whether the engine is one of Koldun's, and no server.
func spreads(s v1.AIDeploymentSpec) bool {
	e, err := catalog.ByName(string(s.Engine.Name))
	return err == nil && e.Configured == nil
}

func (p *plan) queued() bool { return Queued(p.d.Spec) }

func (p *plan) distributed() bool { return spreads(p.d.Spec) }

// name of the Deployment, Service and Ingress: the AIDeployment's own, if it is a
// DNS label.
func (p *plan) name() string { return names.Join(names.MaxLabel, p.d.Name) }

// component is the name of another composed object.
func (p *plan) component(suffix string) string { return names.Join(names.MaxLabel, p.d.Name, suffix) }

// fail sets the reason for which the AIDeployment does not serve. What exists of it
// stays.
func (p *plan) fail(why reason.Reason, format string, args ...any) {
	p.Fail(why, format, args...)
	if reason.Final(string(why)) && p.status.Phase != phaseFailed {
		p.status.Phase, p.status.ErrMsg = phaseFailed, sprintf(format, args...)
	}
}

// refuse fails because of what the claim says. Nothing that exists is changed.
func (p *plan) refuse(format string, args ...any) (compose.Next, error) {
	p.fail(reason.DeploymentInvalid, format, args...)
	return compose.Stop, p.keep()
}

// allow refuses what the platform team keeps to itself.
func (p *plan) allow() (compose.Next, error) {
	s := p.d.Spec
	var uses []platform.Use
	if o := s.Engine.Options; o != nil {
		uses = append(uses, platform.Image("spec.engine.options.imageRepository", o.ImageRepository))
	}
	if t := s.Deployment.Template; t != nil {
		uses = append(uses, platform.Template("spec.deployment.template", t.Spec != nil))
	}
	if refused := p.Refused(p.d.Namespace, uses...); refused != "" {
		p.fail(reason.NotAllowed, "%s", refused)
		return compose.Stop, p.keep()
	}
	return compose.Continue, nil
}

func (p *plan) chooseEngine() (compose.Next, error) {
	if p.distributed() {
		return compose.Continue, nil
	}
	if n := p.name(); !p.queued() && n[0] >= '0' && n[0] <= '9' {
		return p.refuse("metadata.name: a Service has this name, and %q does not start with a letter: name the AIDeployment otherwise", n)
	}
	var err error
	if p.profile, err = openai.ByName(string(p.d.Spec.Engine.Name)); err != nil {
		return p.refuse("spec.engine.name: %v", err)
	}
	return compose.Continue, nil
}

// labels of all composed objects; those of prem-operator's users among them.
func (p *plan) labels() map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":       "koldun",
		"app.kubernetes.io/managed-by": "koldun",
		"app.kubernetes.io/component":  "engine",
		"app.kubernetes.io/instance":   p.name(),
	}
}

// selector selects the pods. It never changes, so that a change of labels takes no
// pod out of the Service.
func (p *plan) selector() map[string]string {
	return map[string]string{v1.LabelAIDeployment: p.name()}
}

func object(kind, apiVersion string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}
}

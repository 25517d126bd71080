// Package aideployment composes an AIDeployment: an engine with its models, alone
// as a Deployment behind a Service, or behind Koldun's queue as a Dllama.
package aideployment

import (
	"cmp"
	"fmt"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/platform"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/engine/catalog"
	"github.com/gorizond/koldun/internal/engine/openai"
	"github.com/gorizond/koldun/internal/engine/openai/profile"
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
	p := &plan{Plan: compose.Plan{Call: c}, d: &d}
	p.status = v1.AIDeploymentStatus{Status: v1.Status{ObservedGeneration: d.Generation}, Phase: phaseNotReady}
	engine, models, err := p.compose()
	if err != nil {
		return err
	}
	c.Legacy(engine.legacy(models))
	return c.Finish(&p.status)
}

// A plan is one composition of one AIDeployment.
type plan struct {
	compose.Plan
	d      *v1.AIDeployment
	status v1.AIDeploymentStatus
}

// compose returns the engine and the models as far as it has found them.
func (p *plan) compose() (e engineSpec, models []model, err error) {
	e.d = p.d
	next, err := p.allow()
	if next == compose.Stop || err != nil {
		return e, nil, err
	}
	if e.profile, next, err = p.chooseEngine(); next == compose.Stop || err != nil {
		return e, nil, err
	}
	if models, next, err = p.resolve(e); next == compose.Stop || err != nil {
		return e, models, err
	}
	if problem := e.unversioned(); problem != "" {
		_, err = p.refuse("%s", problem)
		return e, models, err
	}
	volume, next, err := p.source(models)
	if next == compose.Stop || err != nil {
		return e, models, err
	}
	if Queued(p.d.Spec) {
		return e, models, p.composeQueued(e, models[0], volume)
	}
	return e, models, p.composeAlone(e, models, volume)
}

// composeQueued composes an engine behind Koldun's queue.
func (p *plan) composeQueued(e engineSpec, m model, volume string) error {
	q := &queued{plan: p, engine: e, model: m, volume: volume}
	if next, err := q.dllama(); next == compose.Stop || err != nil {
		return err
	}
	return p.endpoints(gateway(p.d))
}

// composeAlone composes an engine as a Deployment behind a Service.
func (p *plan) composeAlone(e engineSpec, models []model, volume string) error {
	a, next, err := p.start(e, models, volume)
	if next == compose.Stop || err != nil {
		return err
	}
	if next, err := a.deployment(); next == compose.Stop || err != nil {
		return err
	}
	if err := a.service(); err != nil {
		return err
	}
	if err := p.autoscaler(); err != nil {
		return err
	}
	if err := p.endpoints(backend{name(p.d), a.port}); err != nil {
		return err
	}
	return p.report()
}

// Queued reports whether Koldun's queue is before the engine of an AIDeployment. An engine
// that is no server has no other way to its requests.
func Queued(s v1.AIDeploymentSpec) bool { return s.Gateway != nil || spreads(s) }

// spreads reports whether the engine is one of Koldun's, and no server.
func spreads(s v1.AIDeploymentSpec) bool {
	e, err := catalog.ByName(string(s.Engine.Name))
	return err == nil && e.Configured == nil
}

// fail sets the reason for which the AIDeployment does not serve. What exists of it
// stays.
func (p *plan) fail(why reason.Reason, format string, args ...any) {
	p.Fail(why, format, args...)
	if reason.Final(string(why)) && p.status.Phase != phaseFailed {
		p.status.Phase, p.status.ErrMsg = phaseFailed, fmt.Sprintf(format, args...)
	}
}

// refuse fails because of what the claim says. Nothing that exists is changed.
func (p *plan) refuse(format string, args ...any) (compose.Next, error) {
	p.fail(reason.DeploymentInvalid, format, args...)
	return compose.Stop, p.keep(0)
}

// allow refuses what the platform team keeps to itself.
func (p *plan) allow() (compose.Next, error) {
	s := p.d.Spec
	var uses []platform.Use
	if o := s.Engine.Options; o != nil && (o.ImageRepository != "" || o.ImageTag != "") {
		uses = append(uses, platform.Image("spec.engine.options", p.named()))
	}
	if t := s.Deployment.Template; t != nil {
		uses = append(uses, platform.Template("spec.deployment.template", t.Spec != nil))
	}
	if !spreads(s) {
		uses = append(uses, platform.ServerSecrets("spec", s.Env, s.EnvFrom)...)
		if s.Engine.Name == "generic" {
			uses = append(uses, platform.ServerCommand("spec.args", s.Args))
		}
	}
	if refused := p.Refused(p.d.Namespace, uses...); refused != "" {
		p.fail(reason.NotAllowed, "%s", refused)
		return compose.Stop, p.keep(0)
	}
	return compose.Continue, nil
}

// named is the image that the claim names, by its repository or its tag.
func (p *plan) named() string {
	e := engineSpec{d: p.d}
	e.profile, _ = openai.ByName(string(p.d.Spec.Engine.Name)) // one that is no server has no image of its own
	return cmp.Or(e.image(), p.d.Spec.Engine.Options.ImageRepository)
}

// chooseEngine returns the profile of the engine; none for one that is no server.
func (p *plan) chooseEngine() (out profile.Profile, next compose.Next, err error) {
	if spreads(p.d.Spec) {
		return out, compose.Continue, nil
	}
	if n := name(p.d); !Queued(p.d.Spec) && n[0] >= '0' && n[0] <= '9' {
		next, err = p.refuse("metadata.name: a Service has this name, and %q does not start with a letter: name the AIDeployment otherwise", n)
		return out, next, err
	}
	if out, err = openai.ByName(string(p.d.Spec.Engine.Name)); err != nil {
		next, err = p.refuse("spec.engine.name: %v", err)
	}
	return out, next, err
}

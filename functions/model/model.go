// Package model composes a Model: the revision on the hub, the Jobs that fetch
// and convert it, what they make in the object store, a volume with it when
// one is wanted, and its entry in the registry.
package model

import (
	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/platform"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
)

// Names of the composed resources. Where a hash is in the name of the object,
// because another one is another thing, it is appended to these too: Crossplane
// keeps the object that it has under a name.
const (
	resRevision  = "revision"
	resQueue     = "queue"
	resSource    = "source"
	resConverted = "converted"
	resFetch     = "fetch"
	resConvert   = "convert"
	resVolume    = "volume"
	resClaim     = "claim"
	resFill      = "fill"
	resRecord    = "record"
	resInspected = "inspected"
	resInspect   = "inspect"
	resGuard     = "guard"
)

// Compose answers one call for a Model.
func Compose(c *compose.Call) error {
	var m v1.Model
	if err := c.Composite(&m); err != nil {
		return err
	}
	p := &modelPlan{
		Plan:    compose.Plan{Call: c},
		m:       m,
		status:  v1.ModelStatus{Status: v1.Status{ObservedGeneration: m.Generation}},
		weights: weightsOf(m.Spec.Conversion),
	}
	c.Legacy(Legacy("spec", m.Namespace, m.Spec, !c.ClusterScoped()))
	steps := []compose.Step{p.withdraw, p.allow, p.locate, p.connect, p.guests, p.guard, p.connections, p.revision, p.users, p.files, p.volume, p.record}
	if m.Spec.PreConverted {
		steps = []compose.Step{p.withdraw, p.preConverted, p.connect, p.guests, p.guard, p.registry, p.inspect, p.record}
	}
	if err := p.Run(steps...); err != nil {
		return err
	}
	return c.Finish(&p.status)
}

// A modelPlan is one composition of one Model.
type modelPlan struct {
	compose.Plan
	m      v1.Model
	status v1.ModelStatus

	weights string
	to      layout   // set by the step locate
	at      Location // set by the step revision
	// Set by the step connect.
	via     managed.Via
	pending managed.Pending // what the Jobs wait for; set by the step connections
	// Set by the steps users and registry.
	logins    connection.Logins
	storeKeys workload.StoreKeys // set by the step connections
	usersDue  managed.Pending    // what Jobs wait for that do not exist
	// Set by the step revision.
	unfit string // why the model cannot run; empty if it can
	small string // why the volume cannot hold it; empty if it can
	// Set by the step files.
	source, converted v1alpha1.ModelArtifactObservation
	// Set by the step preConverted.
	volumeFiles v1.Artifact
}

// allow refuses what the platform team keeps to itself: a static volume has the rights of
// its Secret on any bucket, and its attributes are arguments of a program on the node.
func (p *modelPlan) allow() (compose.Next, error) {
	if pv := p.m.Spec.PV; pv != nil && p.ClusterScoped() {
		return p.Allow(p.m.Namespace, platform.Static("spec.pv", p.static(pv, ""))...), nil
	}
	return compose.Continue, nil
}

// locate reads where the model comes from and where it goes.
func (p *modelPlan) locate() (compose.Next, error) {
	var problem string
	p.to, problem = layoutOf(p.m.Spec)
	if problem != "" {
		p.Fail(reason.SourceInvalid, "%s", problem)
		return compose.Stop, nil
	}
	p.to.own = ownFolder(p.Call, p.to.buckets()[0])
	return compose.Continue, nil
}

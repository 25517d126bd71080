// Package dllama composes a Dllama: its Model and Ingress, if it has them
// inline, and the pods that serve the model.
package dllama

import (
	"fmt"
	"maps"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/ingress"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/model"
	"github.com/gorizond/koldun/functions/pool"
	"github.com/gorizond/koldun/functions/reason"
)

// Names of the composed resources.
const (
	resModel         = "model"
	resServedModel   = "served-model"  // required only
	resOtherIngress  = "other-ingress" // required only
	resIngress       = "ingress"
	resBucket        = "bucket"
	resRunners       = "runners"
	resRecord        = "record"
	resRegistry      = "registry"
	resMember        = "member"
	resToken         = "token"
	resService       = "root-service"
	resRoot          = "root"
	resRootGuard     = "root-guard"
	resWorkerService = "worker-service"
	resWorkers       = "workers"
	resWorkerGuard   = "worker-guard"
	resBudget        = "budget"
)

// Compose answers one call for a Dllama.
func Compose(c *compose.Call) error {
	var claimed v1.Dllama
	if err := c.Composite(&claimed); err != nil {
		return err
	}
	d := &dllama{
		Plan: compose.Plan{Call: c}, claim: claim{&claimed},
		status: v1.DllamaStatus{Status: v1.Status{ObservedGeneration: claimed.Generation}},
	}
	d.ingress = observeIngress(c, d.claim)
	c.Legacy(legacy(claimed, !c.ClusterScoped()))
	if err := d.compose(); err != nil {
		return err
	}
	return c.Finish(&d.status)
}

// A dllama is one composition of one Dllama.
type dllama struct {
	compose.Plan
	claim
	ingress ownIngress
	status  v1.DllamaStatus
}

// compose composes what the claim asks for, as far as what it needs is there.
func (d *dllama) compose() error {
	if d.modelWithdrawn() {
		return d.endServing()
	}
	if d.Allow(d.Namespace, d.uses()...) == compose.Stop {
		return nil
	}
	if err := d.expose(); err != nil {
		return err
	}
	up, refused := d.chooseUpstream()
	if up == nil {
		return nil
	}
	files, err := modelStep{d, up, refused}.run()
	if err != nil || files.ServedArtifact == nil {
		return err
	}
	if refused {
		d.keepRunning()
		return nil
	}
	plan, problem := planNodes(d.claim, up, files, d.status.Nodes)
	if problem != "" {
		d.status.MaxSeqLen = plan.seqLen
		d.Fail(reason.TopologyInvalid, "%s", problem)
		d.keepRunning()
		return nil
	}
	d.compareRequests(plan)
	if d.scaled() {
		return d.composePool(plan, up, files.waits)
	}
	return d.composePods(plan, up, files.waits)
}

// legacy says which fields without effect are given.
func legacy(d v1.Dllama, namespaced bool) map[string]bool {
	s := d.Spec
	out := map[string]bool{}
	if s.Model != nil {
		maps.Copy(out, model.Legacy("spec.model", d.Namespace, *s.Model, namespaced))
	}
	if s.Expose != nil {
		maps.Copy(out, ingress.Legacy("spec.expose", s.Expose.GatewaySettings))
		if scaling := s.Expose.Scaling; scaling != nil {
			out["spec.expose.scaling.activeRequests"] = scaling.ActiveRequests != 0
		}
	}
	return out
}

// running reports whether the root or the pool exists. What runs goes on when
// something that it refers to cannot be read.
func (d *dllama) running() bool { return d.Exists(resRoot) || d.Exists(pool.Resource) }

// keepRunning ends a composition that is refused. What runs goes on as it is: neither a
// mistake in an edit nor a check of a newer version ends pods that serve.
func (d *dllama) keepRunning() {
	if d.running() {
		d.status = d.Status
		d.status.ObservedGeneration = d.Generation
		d.status.ReadyRoot = d.status.ReadyRoot && (d.ReadyPods(resRoot) > 0 || d.Exists(pool.Resource))
		d.KeepRest(resModel, partOf(resModel), resIngress, partOf(resIngress))
	}
}

// wait reports what a Model without files waits for. The status gets nothing of the plan:
// each change of it is an event for everything above.
func (d *dllama) wait(waits managed.Pending, watched managed.Pods) {
	if waits.Reason == reason.ModelPending && watched.Reason != "" {
		d.Fail(watched.Reason, "%s", watched.Message)
	} else {
		d.Fail(waits.Reason, "%s", waits.Message)
	}
}

// unchanged says what keeps the Dllama's own Model or Ingress as it was when the claim
// asks for another one, as an addition to a message; empty if nothing does.
func (d *dllama) unchanged() string {
	out := ""
	if d.Spec.Model != nil {
		if _, trouble := d.own(resModel).Observe(d.Call, &v1.Model{}); trouble != "" {
			out += fmt.Sprintf(". Model %q stays as it was: %s", d.Name, trouble)
		}
	}
	if trouble := d.ingress.trouble; trouble != "" {
		out += fmt.Sprintf(". Ingress %q stays as it was: %s", d.Name, trouble)
	}
	return out
}

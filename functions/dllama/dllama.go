// Package dllama composes a Dllama: its Model and Ingress, if it has them
// inline, and the pods that serve the model.
package dllama

import (
	"fmt"
	"maps"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/ingress"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/model"
	"github.com/gorizond/koldun/functions/pool"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/engine"
	"github.com/gorizond/koldun/internal/model/topology"
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
	var d v1.Dllama
	if err := c.Composite(&d); err != nil {
		return err
	}
	p := &dllamaPlan{Plan: compose.Plan{Call: c}, claim: claim{&d}, status: v1.DllamaStatus{Status: v1.Status{ObservedGeneration: d.Generation}}}
	p.ingress = observeIngress(c, p.claim)
	c.Legacy(legacy(d, !c.ClusterScoped()))
	if err := p.Run(p.grant, p.allow, p.composeIngress, p.configure, p.findModel, p.preflight, p.deliver, p.connections, p.pool, p.serve); err != nil {
		return err
	}
	return c.Finish(&p.status)
}

// allow refuses what the platform team keeps to itself.
func (p *dllamaPlan) allow() (compose.Next, error) { return p.Allow(p.Namespace, p.uses()...), nil }

func (p *dllamaPlan) composeIngress() (compose.Next, error) { return compose.Continue, p.expose() }

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

// A dllamaPlan is one composition of one Dllama.
type dllamaPlan struct {
	compose.Plan
	claim
	ingress ownIngress
	status  v1.DllamaStatus

	// Set by the step configure for a claim with a server, else by preflight.
	engine  engine.Engine
	refused bool // the server cannot run the claim
	// Set by the step model.
	artifact *v1.ServedArtifact
	waits    reason.Reason // of a Model without files, whose header is known; else empty
	waitsFor string        // the message
	// Set by the step preflight.
	buffers topology.FloatType
	pods    managed.Pods // unless a pool of Dllamas serves the model
	// Set by the step deliver.
	delivery string
	// Set by the step serve while the root is not ready.
	starts managed.Progress
	// Set by the step connections, if anything but the pods needs NATS.
	via managed.Via
	// Set by the step connections.
	logins    connection.Logins
	storeKeys workload.StoreKeys
}

// running reports whether the root or the pool exists. What runs goes on when
// something that it refers to cannot be read.
func (p *dllamaPlan) running() bool { return p.Exists(resRoot) || p.Exists(pool.Resource) }

// keepRunning stops a plan that is refused. What runs goes on as it is: neither a
// mistake in an edit nor a check of a newer version ends pods that serve.
func (p *dllamaPlan) keepRunning() compose.Next {
	if p.running() {
		p.status = p.Status
		p.status.ObservedGeneration = p.Generation
		p.status.ReadyRoot = p.status.ReadyRoot && (p.ReadyPods(resRoot) > 0 || p.Exists(pool.Resource))
		p.KeepRest(resModel, partOf(resModel), resIngress, partOf(resIngress))
	}
	return compose.Stop
}

// unchanged says what keeps the Dllama's own Model or Ingress as it was when the claim
// asks for another one, as an addition to a message; empty if nothing does.
func (p *dllamaPlan) unchanged() string {
	out := ""
	if p.Spec.Model != nil {
		if _, trouble := p.own(resModel).Observe(p.Call, &v1.Model{}); trouble != "" {
			out += fmt.Sprintf(". Model %q stays as it was: %s", p.Name, trouble)
		}
	}
	if trouble := p.ingress.trouble; trouble != "" {
		out += fmt.Sprintf(". Ingress %q stays as it was: %s", p.Name, trouble)
	}
	return out
}

// ownStore reports whether the Dllama has a connection to the object store of its own.
// An inline Model's serves both, unless its credentials are temporary: those are for
// its Jobs, which may write.
func (p *dllamaPlan) ownStore() bool {
	return p.Spec.Model == nil || p.artifact.TemporaryCredentials
}

// storeSecret names the Secret with the connection to the object store.
func (p *dllamaPlan) storeSecret() string {
	if p.ownStore() {
		return connection.StoreSecret("dllama", p.Name)
	}
	return connection.StoreSecret("model", p.Name)
}

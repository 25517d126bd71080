// Package dllama composes a Dllama: its Model and Ingress when it brings them
// along, and the pods that serve the model.
package dllama

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/model"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/topology"
)

// Names of the composed resources.
const (
	resModel         = "model"
	resIngress       = "ingress"
	resBucket        = "bucket"
	resRunners       = "runners"
	resRecord        = "record"
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
	p := &plan{Call: c, d: d, status: v1.DllamaStatus{Status: v1.Status{ObservedGeneration: d.Generation}}}
	if m := d.Spec.Model; m != nil {
		c.Legacy(model.Legacy("spec.model", *m))
	}
	if err := p.run(); err != nil {
		return err
	}
	return c.SetStatus(&p.status)
}

// A plan is one composition of one Dllama.
type plan struct {
	*compose.Call
	d      v1.Dllama
	status v1.DllamaStatus

	modelNamespace, modelName string
	artifact                  *v1.ServedArtifact
	buffers                   topology.FloatType
	memory                    *topology.Plan
	delivery                  string
	nats                      connection.Connection
	problem                   connection.Problem
	blocking                  bool // a condition says already why nothing is served
}

func (p *plan) run() error {
	if err := p.expose(); err != nil {
		return err
	}
	blocked, err := p.model()
	if err != nil {
		return err
	}
	p.status.Model = p.modelNamespace + "/" + p.modelName
	p.status.Nodes = p.nodes()
	if blocked || p.taken() || p.preflight() || p.deliver() {
		return nil
	}
	p.status.Artifact = p.artifact
	if blocked, err := p.connections(); err != nil || blocked {
		return err
	}
	return p.serve()
}

// nodes is what the Dllama says, else what its Model says, else one.
func (p *plan) nodes() int32 {
	r := p.d.Spec.Runtime
	switch {
	case r.Nodes != nil:
		return *r.Nodes
	case r.ReplicaPower != nil:
		return 1 << *r.ReplicaPower
	case p.artifact != nil && p.artifact.ReplicaPower != nil:
		return 1 << *p.artifact.ReplicaPower
	}
	return 1
}

// fail says why nothing is served. The first reason stands.
func (p *plan) fail(why reason.Reason, format string, args ...any) {
	if !p.blocking {
		p.blocking = true
		p.False(v1.ConditionServing, why, format, args...)
	}
}

// connections composes what the pods need before they can start. Pods that
// are there already stay.
func (p *plan) connections() (blocked bool, err error) {
	ns, name := p.d.Namespace, p.d.Name
	running := p.Exists(resRoot)
	if p.d.Spec.Expose != nil && !p.admitted() && !running {
		p.fail(reason.GatewayStarting, "%s", p.gatewayPending())
		return true, nil
	}
	desired := map[string]any{}
	if p.d.Spec.Expose == nil || p.foreign() {
		via, err := p.connect()
		if err != nil {
			return false, err
		}
		if p.problem.Message != "" {
			p.fail(p.problem.Reason, "%s", p.problem.Message)
			if !running {
				return true, nil
			}
		}
		if p.d.Spec.Expose == nil {
			desired[resRunners] = managed.KeyValue(via, ns, names.Object(name, "dllama", "runners"), p.busSecret(), managed.Expiring(names.RunnersBucket))
		}
		if p.foreign() {
			desired[resRecord] = p.listing(via)
		}
	}
	if p.delivery == deliveryFetch && p.d.Spec.Model == nil {
		desired[resBucket] = managed.Bucket(p.artifact.ProviderConfigRef, ns, names.Object(name, "artifact"), p.artifact.Bucket, p.storeSecret())
	}
	pending, err := managed.Await(p.Call, desired)
	if err != nil || pending == "" || running {
		return false, err
	}
	p.fail(reason.ConnectionPending, "%s", pending)
	return true, nil
}

// connect finds out how NATS is reached.
func (p *plan) connect() (managed.Via, error) {
	if p.problem.Message == "" {
		p.nats, p.problem = connection.NATS(p.Call, p.owner(), "spec.nats", p.d.Spec.NATS)
	}
	if p.problem.Message != "" {
		return connection.Keep(p.Call, resRunners)
	}
	return p.nats.Compose(p.Call, p.owner())
}

func (p *plan) owner() connection.Owner {
	return connection.Owner{Kind: "dllama", Namespace: p.d.Namespace, Name: p.d.Name}
}

// storeSecret has the connection to the object store. A Model of its own has
// one already.
func (p *plan) storeSecret() string {
	if p.d.Spec.Model != nil {
		return connection.StoreSecret("model", p.d.Name)
	}
	return connection.StoreSecret("dllama", p.d.Name)
}

// busSecret has the connection to the queue. An Ingress of its own has one
// already.
func (p *plan) busSecret() string {
	if p.d.Spec.Expose != nil {
		return connection.BusSecret("ingress", p.d.Name)
	}
	return connection.BusSecret("dllama", p.d.Name)
}

func serving(conditions []metav1.Condition) metav1.Condition {
	for _, c := range conditions {
		if c.Type == v1.ConditionServing {
			return c
		}
	}
	return metav1.Condition{}
}

// expose composes the Ingress of a Dllama that wants one. The Dllama itself is
// the pool, so the Ingress makes none.
func (p *plan) expose() error {
	e := p.d.Spec.Expose
	if e == nil {
		return nil
	}
	want := &v1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.APIVersion, Kind: v1.KindIngress},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.d.Namespace, Name: p.d.Name},
		Spec: v1.IngressSpec{
			Backend: v1.Backend{AllowAnonymous: e.AllowAnonymous, Sessions: "Static"},
			Service: e.Service,
			Route:   e.Route,
		},
	}
	if n := p.d.Spec.NATS; n != nil {
		want.Spec.Backend.NATS = &v1.IngressNATS{URL: n.URL, CredentialsSecret: n.CredentialsSecret, ProviderConfigRef: n.ProviderConfigRef}
	}
	if err := p.Desire(resIngress, want, compose.Readiness(p.exposed())); err != nil {
		return fmt.Errorf("cannot expose: %w", err)
	}
	return nil
}

// exposed reports whether the Ingress serves.
func (p *plan) exposed() bool {
	return p.Condition(resIngress, v1.ConditionServing).Status == metav1.ConditionTrue
}

// admitted reports whether the queue of the Ingress is there, and the Secret
// with the connection to it.
func (p *plan) admitted() bool {
	var seen v1.Ingress
	return p.Observed(resIngress, &seen) && seen.Status.BackendServiceName != ""
}

// gatewayPending tells what somebody has to mend. How the Ingress gets along
// stays with the Ingress: each change would be one more for the Dllama.
func (p *plan) gatewayPending() string {
	if state := p.Condition(resIngress, v1.ConditionServing); reason.Final(state.Reason) {
		return fmt.Sprintf("Ingress %q is not ready: %s: %s", p.d.Name, state.Reason, state.Message)
	}
	return fmt.Sprintf("Ingress %q is not ready yet: its condition Serving tells more", p.d.Name)
}

// Package session composes a Session: a pool of Dllamas that serve one model.
package session

import (
	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/platform"
	"github.com/gorizond/koldun/functions/pool"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/functions/workload"
	"github.com/gorizond/koldun/internal/names"
)

// Names of the composed resources.
const (
	resDispatcher = "dispatcher"
	resMember     = "member"
	resGuard      = "guard"
)

// Compose answers one call for a Session.
func Compose(c *compose.Call) error {
	var s v1.Session
	if err := c.Composite(&s); err != nil {
		return err
	}
	if s.Spec.ModelRef.Namespace == "" {
		s.Spec.ModelRef.Namespace = s.Namespace
	}
	c.Legacy(legacy(s.Spec))
	p := &sessionPlan{Plan: compose.Plan{Call: c}, s: s}
	p.status = v1.SessionStatus{
		Status:   v1.Status{ObservedGeneration: s.Generation},
		Model:    modelOf(s),
		Key:      keyOf(s.Namespace, s.Spec),
		Selector: selectorOf(s.Name),
	}
	if err := p.Run(p.allow, p.checkKey, p.connect, p.dispatch, p.join, p.members, p.report); err != nil {
		return err
	}
	return c.Finish(&p.status)
}

// A sessionPlan is one composition of one Session.
type sessionPlan struct {
	compose.Plan
	s      v1.Session
	status v1.SessionStatus

	via     managed.Via // set by the step connect
	trouble string      // of a member, which the user has to fix; set by the step members, and so is why
	why     reason.Reason
	led     bool // whether a dispatcher leads the session; set by the step dispatch
}

// allow refuses what the platform team keeps to itself.
func (p *sessionPlan) allow() (compose.Next, error) {
	uses := append(platform.Runtime("spec", p.s.Spec.Runtime), platform.GatewayImage("spec.dispatcherImage", p.s.Spec.DispatcherImage))
	return p.Allow(p.s.Namespace, uses...), nil
}

// checkKey refuses the key of another model's pool, or of another namespace's.
func (p *sessionPlan) checkKey() (compose.Next, error) {
	if key := p.s.Spec.Key; key != "" && key != p.status.Key {
		p.Fail(reason.KeyInvalid, "spec.key: %q is not a pool of Model %q", key, p.status.Model)
		return compose.Stop, nil
	}
	return compose.Continue, nil
}

func (p *sessionPlan) owner() connection.Owner {
	return connection.Owner{Kind: "session", Namespace: p.s.Namespace, Name: p.s.Name}
}

// connect composes the connection to NATS. If there is none, the pool that
// exists stays.
func (p *sessionPlan) connect() (compose.Next, error) {
	owner := p.owner()
	nats, problem := connection.NATS(p.Call, owner, "spec.nats", p.s.Spec.NATS)
	if problem.Message != "" {
		p.Fail(problem.Reason, "%s", problem.Message)
	}
	var err error
	p.via, err = nats.ComposeOrKeep(p.Call, owner, problem, pool.Resource)
	return compose.Continue, err
}

// report sets the condition by what serves. The numbers are in the status alone:
// Crossplane writes a condition that changes apart from the status, and each write has
// the Session reconciled again.
func (p *sessionPlan) report() (compose.Next, error) {
	switch {
	case p.status.Dllamas == 0:
		p.Serve(reason.Idle, "The pool is empty: nothing asks for %s", p.status.Model)
	case p.status.ReadyDllamas == 0 && p.trouble != "":
		p.Fail(p.why, "%s", p.trouble)
	case p.status.ReadyDllamas == 0:
		p.Fail(reason.DllamasStarting, "Dllama %q is not ready", p.status.Workers[0].Name)
	case !p.led:
		p.Fail(reason.GatewayStarting, "Deployment %q has no ready pod yet", p.dispatcherName())
	case p.trouble != "":
		// One that serves is enough: the pool may want more than the cluster has room for.
		p.Serve(reason.Available, "The pool serves %s. %s", p.status.Model, p.trouble)
	default:
		p.Serve(reason.Available, "The pool serves %s", p.status.Model)
	}
	return compose.Continue, nil
}

// keyOf is the key of the pool in the queue. It is of the Session's namespace,
// whatever the Model's is: no Session joins the pools of another namespace.
func keyOf(namespace string, s v1.SessionSpec) string {
	if names.SessionOf(s.Key, names.Session(namespace, served(s), "")) {
		return s.Key
	}
	return names.Session(namespace, served(s), s.Hash)
}

// selectorOf selects the roots of the members: an autoscaler takes the number of pods as
// that of Dllamas. Their workers and the Session's dispatcher have the Session's label,
// too. The client of autoscalers cannot read != in a selector.
func selectorOf(name string) string {
	return v1.LabelSession + "=" + pool.Label(name) + "," + workload.LabelComponent + "=root"
}

// defaultMinDllamas is that of the schema, which every Session has.
const defaultMinDllamas = 1

func legacy(s v1.SessionSpec) map[string]bool {
	out := map[string]bool{
		"spec.dispatcherMetricsListen": s.DispatcherMetricsListen != "",
		"spec.ttl":                     s.TTL != nil,
		"spec.scaling.activeRequests":  s.Scaling.ActiveRequests != 0,
	}
	if n, other := s.MinIdle, s.Scaling.MinDllamas; n != nil && other != nil {
		out["spec.scaling.minDllamas"] = *other != *n && *other != defaultMinDllamas
	}
	if n, other := s.MaxWorkers, s.Scaling.MaxDllamas; n != nil {
		out["spec.scaling.maxDllamas"] = other != *n && other != 0
	}
	if q := s.Queue; q != nil {
		out["spec.queue.backlogSubject"] = q.BacklogSubject != ""
		out["spec.queue.responseSubjectPrefix"] = q.ResponseSubjectPrefix != ""
		out["spec.queue.assignmentsBucket"] = q.AssignmentsBucket != ""
		out["spec.queue.dllamaSubjectPrefix"] = q.DllamaSubjectPrefix != ""
		out["spec.queue.stateStream"] = q.StateStream != ""
		out["spec.queue.ackTimeout"] = q.AckTimeout != nil
	}
	return out
}

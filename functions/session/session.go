// Package session composes a Session: a pool of Dllamas that serve one model.
package session

import (
	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/connection"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/reason"
	"github.com/gorizond/koldun/internal/names"
)

// Names of the composed resources.
const (
	resPool       = "pool"
	resDispatcher = "dispatcher"
)

// maxMembers is the largest pool.
const maxMembers = 64

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
	p := &plan{Call: c, s: s, size: sizeOf(s.Spec)}
	p.status = v1.SessionStatus{
		Status:   v1.Status{ObservedGeneration: s.Generation},
		Model:    s.Spec.ModelRef.Namespace + "/" + s.Spec.ModelRef.Name,
		Key:      keyOf(s.Namespace, s.Spec),
		Selector: v1.LabelSession + "=" + names.Join(names.MaxLabel, s.Name),
	}
	if err := p.run(); err != nil {
		return err
	}
	return c.SetStatus(&p.status)
}

// A plan is one composition of one Session.
type plan struct {
	*compose.Call
	s        v1.Session
	size     size
	status   v1.SessionStatus
	via      managed.Via
	blocking bool
}

func (p *plan) run() error {
	if key := p.s.Spec.Key; key != "" && key != p.status.Key {
		p.fail(reason.KeyInvalid, "spec.key: %q is not a pool of Model %q", key, p.status.Model)
		return nil
	}
	if err := p.connect(); err != nil {
		return err
	}
	led, err := p.lead()
	if err != nil {
		return err
	}
	members, err := p.members()
	if err != nil {
		return err
	}
	for _, m := range members {
		p.count(m)
	}
	p.conclude(led)
	return nil
}

func (p *plan) fail(why reason.Reason, format string, args ...any) {
	if !p.blocking {
		p.blocking = true
		p.False(v1.ConditionServing, why, format, args...)
	}
}

// connect finds out how NATS is reached. The pool that is there stays when
// that cannot be said.
func (p *plan) connect() error {
	owner := connection.Owner{Kind: "session", Namespace: p.s.Namespace, Name: p.s.Name}
	nats, problem := connection.NATS(p.Call, owner, "spec.nats", p.s.Spec.NATS)
	var err error
	if problem.Message == "" {
		p.via, err = nats.Compose(p.Call, owner)
		return err
	}
	p.fail(problem.Reason, "%s", problem.Message)
	p.via, err = connection.Keep(p.Call, resPool)
	return err
}

// conclude says how the pool does.
func (p *plan) conclude(led bool) {
	switch {
	case p.blocking:
	case p.status.Dllamas == 0:
		p.True(v1.ConditionServing, reason.Idle, "The pool is empty: nothing asks for %s", p.status.Model)
	case p.status.ReadyDllamas == 0:
		p.False(v1.ConditionServing, reason.DllamasStarting, "Dllama %q is not ready", p.status.Workers[0].Name)
	case !led:
		p.False(v1.ConditionServing, reason.GatewayStarting, "Deployment %q has no ready pod yet", p.dispatcherName())
	default:
		// One that serves is enough: others may come and go.
		p.True(v1.ConditionServing, reason.Available, "%d of %d Dllamas serve %s", p.status.ReadyDllamas, p.status.Dllamas, p.status.Model)
	}
}

// keyOf is the key of the pool in the queue. It is of the Session's namespace,
// wherever the Model is: nobody takes part in the pools of another one.
func keyOf(namespace string, s v1.SessionSpec) string {
	if names.SessionOf(s.Key, names.Session(namespace, s.ModelRef.Name, "")) {
		return s.Key
	}
	return names.Session(namespace, s.ModelRef.Name, s.Hash)
}

func legacy(s v1.SessionSpec) map[string]bool {
	out := map[string]bool{
		"spec.dispatcherMetricsListen": s.DispatcherMetricsListen != "",
		"spec.ttl":                     s.TTL != nil,
		"spec.scaling.activeRequests":  s.Scaling.ActiveRequests != 0,
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

// template of the Dllamas.
func (p *plan) template() (*v1alpha1.ObjectTemplate, error) {
	ref := p.s.Spec.ModelRef
	d := v1.DllamaSpec{ModelRef: &ref, Runtime: p.s.Spec.Runtime}
	if p.via != nil {
		d.NATS = &v1.NATSConnection{ProviderConfigRef: p.via}
	}
	return compose.Template(
		map[string]string{v1.LabelSession: names.Join(names.MaxLabel, p.s.Name)},
		map[string]string{v1.AnnotationSessionKey: p.status.Key}, d)
}

func (p *plan) memberName(member string) string { return names.Member(p.s.Name, member) }

package session

import (
	"cmp"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/managed"
	"github.com/gorizond/koldun/functions/pool"
	"github.com/gorizond/koldun/internal/names"
)

// served returns the name under which clients ask for the pool.
func served(s v1.SessionSpec) string {
	if s.Traffic != nil {
		return cmp.Or(s.Traffic.Model, s.ModelRef.Name)
	}
	return s.ModelRef.Name
}

// modelOf returns the model id of the pool: that of its Model, or of the name under
// which it serves it.
func modelOf(s v1.Session) string {
	if name := served(s.Spec); name != s.Spec.ModelRef.Name {
		return s.Namespace + "/" + name
	}
	return s.Spec.ModelRef.Namespace + "/" + s.Spec.ModelRef.Name
}

// join adds the pool to the members of its name. Without it the first Dllama would
// take requests that are not its share, so a new pool waits for it.
func (p *sessionPlan) join() (compose.Next, error) {
	if p.s.Spec.Traffic == nil {
		return compose.Continue, nil
	}
	member := managed.Member(p.via, p.s.Namespace, names.Object(p.s.Name, "member"), pool.Group(p.s.Name), *p.s.Spec.Traffic, served(p.s.Spec))
	pending, err := managed.Await(p.Call, map[string]any{resMember: member})
	if err != nil || !pending.Any() || p.Exists(pool.Resource) {
		return compose.Continue, err
	}
	p.FailIf(pending.Reason, pending.Message)
	return compose.Stop, nil
}

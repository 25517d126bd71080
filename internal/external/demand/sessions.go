package demand

import (
	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/names"
)

// maxSessionName leaves room for the suffixes of a Session's composed resources,
// in bytes.
const maxSessionName = 45

// Sessions returns how a Demand creates a Session for each listed pool.
func Sessions() external.Dependents[Spec, Status] {
	return external.Dependents[Spec, Status]{
		Kind:    func(Spec) string { return "Session" },
		Enabled: func(s Spec) bool { return s.Session != nil },
		Objects: objects,
		Note:    note,
	}
}

// objects returns one Session for each pool that no other Session serves. A name
// depends on the pool alone: when several Demands ask for the same pool in a
// namespace, one creates the Session, and the others find the name taken.
func objects(s Spec, o Status) []external.Object {
	if s.Session == nil {
		return nil
	}
	var out []external.Object
	for _, d := range o.Sessions {
		if !s.Taken[d.Key] {
			out = append(out, s.Session.Object("Session", SessionName(d), map[string]any{"modelRef": map[string]any{"name": d.Model}, "key": d.Key}))
		}
	}
	return out
}

// SessionName returns the name of the Session of a pool.
func SessionName(d Session) string { return names.Join(maxSessionName, d.Model, names.Hash(8, d.Key)) }

// note records the pools that other Sessions serve. The key of a pool is in the
// status of its Session, or in the spec until the Session has a status.
func note(s *Spec, there external.Existing) {
	s.Taken = map[string]bool{}
	for _, other := range there.Others {
		for _, part := range []string{"spec", "status"} {
			fields, _ := other[part].(map[string]any)
			if key, _ := fields["key"].(string); key != "" {
				s.Taken[key] = true
			}
		}
	}
}

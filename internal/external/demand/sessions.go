package demand

import (
	"cmp"

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
		Beside:  "Dllama",
		Enabled: func(s Spec) bool { return s.Session != nil },
		Objects: objects,
		Note:    note,
	}
}

// objects returns one Session for each pool that nothing else serves. A name
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

// note records the pools that other Sessions and scaled Dllamas serve. The key of a
// pool is in the status of its Session, or in the spec until the Session has a status.
func note(s *Spec, there external.Existing) {
	s.Taken = map[string]bool{}
	for _, other := range there.Others {
		for _, part := range []string{"spec", "status"} {
			if key := text(other, part, "key"); key != "" {
				s.Taken[key] = true
			}
		}
	}
	for _, dllama := range there.Beside {
		if field(dllama, "spec", "expose", "scaling") != nil {
			s.Taken[keyOfScaled(dllama)] = true
		}
	}
}

// keyOfScaled returns the key of the pool of a scaled Dllama. Its model is the one that
// clients ask for: the name in its traffic, that of its Model, or its own if the model
// is inline.
func keyOfScaled(dllama map[string]any) string {
	model := cmp.Or(text(dllama, "spec", "traffic", "model"), text(dllama, "spec", "modelRef", "name"), text(dllama, "metadata", "name"))
	return names.Session(text(dllama, "metadata", "namespace"), model, "")
}

// field returns a field of an object, or nil.
func field(object map[string]any, path ...string) any {
	var v any = object
	for _, name := range path {
		fields, _ := v.(map[string]any)
		v = fields[name]
	}
	return v
}

func text(object map[string]any, path ...string) string {
	s, _ := field(object, path...).(string)
	return s
}

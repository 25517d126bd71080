package jinja

// A scope holds the variables that a part of a template sets. An inner scope
// sees those of its parents and cannot change them.
type scope struct {
	parent *scope
	vars   []variable
}

type variable struct {
	name  string
	value Value
}

func (s *scope) inner() *scope { return &scope{parent: s} }

func (s *scope) set(name string, v Value) {
	for i := range s.vars {
		if s.vars[i].name == name {
			s.vars[i].value = v
			return
		}
	}
	s.vars = append(s.vars, variable{name, v})
}

// lookup returns a variable of the template, one it was rendered with, or a
// global.
func (s *scope) lookup(r *run, name string) Value {
	for ; s != nil; s = s.parent {
		for i := range s.vars {
			if s.vars[i].name == name {
				return s.vars[i].value
			}
		}
	}
	if v, ok := r.vars.text(name); ok {
		return v
	}
	if v, ok := globals[name]; ok {
		return v
	}
	return &undefined{message: "'" + name + "' is undefined"}
}

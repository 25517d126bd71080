package jinja

// A scope holds the variables that a part of a template sets. An inner scope
// sees those of its parents and cannot change them.
type scope struct {
	parent *scope
	vars   []variable
	index  map[string]int // of vars, once there are many
}

type variable struct {
	name  string
	value Value
}

func (s *scope) inner() *scope { return &scope{parent: s} }

func (s *scope) find(name string) (int, bool) {
	if s.index != nil {
		i, ok := s.index[name]
		return i, ok
	}
	for i := range s.vars {
		if s.vars[i].name == name {
			return i, true
		}
	}
	return 0, false
}

func (s *scope) set(name string, v Value) {
	if i, ok := s.find(name); ok {
		s.vars[i].value = v
		return
	}
	s.vars = append(s.vars, variable{name, v})
	switch {
	case s.index != nil:
		s.index[name] = len(s.vars) - 1
	case len(s.vars) > 4*fewEntries:
		s.index = make(map[string]int, 2*len(s.vars))
		for i := range s.vars {
			s.index[s.vars[i].name] = i
		}
	}
}

// lookup returns a variable of the template, one it was rendered with, or a
// global.
func (s *scope) lookup(r *run, name string) Value {
	for ; s != nil; s = s.parent {
		if i, ok := s.find(name); ok {
			return s.vars[i].value
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

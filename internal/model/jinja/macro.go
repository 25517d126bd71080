package jinja

// A macroDef is a macro, or the block of a call, as written in the template.
type macroDef struct {
	name     string // "" is a block
	params   []string
	defaults []expr // of the last parameters
	body     []stmt
	line     int

	// Which of the special names the body uses.
	caller, kwargs, varargs bool
}

// A macro is a macro with the scope in which it was defined.
type macro struct {
	*macroDef
	scope *scope
}

func (*macro) typeName() string { return "Macro" }

func (m *macro) title() Value {
	if m.name == "" {
		return none{}
	}
	return text{s: m.name}
}

func (m *macro) attribute(name string) (Value, bool) {
	switch name {
	case "name":
		return m.title(), true
	case "arguments":
		t := tuple{}
		for _, p := range m.params {
			t.items = append(t.items, text{s: p})
		}
		return t, true
	case "catch_kwargs":
		return boolean(m.kwargs), true
	case "catch_varargs":
		return boolean(m.varargs), true
	case "caller":
		return boolean(m.caller), true
	}
	return nil, false
}

// call executes the macro and returns what it writes.
func (m *macro) call(r *run, a arguments) Value {
	r.enter()
	defer r.leave()
	s := m.scope.inner()
	m.bind(r, s, a)
	b := builder{run: r}
	execAll(r, s, &b, m.body)
	return b.text()
}

// bind sets the parameters and special names in the scope of a call.
func (m *macro) bind(r *run, s *scope, a arguments) {
	given := len(a.positional)
	hasCaller := false
	var absent []int
	for i, name := range m.params {
		if i < given {
			s.set(name, a.positional[i])
			hasCaller = hasCaller || name == "caller" && given >= len(m.params)
			continue
		}
		hasCaller = hasCaller || name == "caller"
		if v, ok := a.take(name); ok {
			s.set(name, v)
		} else {
			absent = append(absent, i)
		}
	}
	if m.caller && !hasCaller {
		v, ok := a.take("caller")
		if !ok {
			v = &undefined{message: "No caller defined"}
		}
		s.set("caller", v)
	}
	if m.kwargs {
		d := &dict{}
		for _, n := range a.named {
			d.set(r, text{s: n.name}, n.value)
		}
		s.set("kwargs", d)
	} else if len(a.named) > 0 {
		r.fail("macro '%s' takes no keyword argument '%s'", m.name, a.named[0].name)
	}
	if m.varargs {
		s.set("varargs", tuple{items: a.positional[min(given, len(m.params)):]})
	} else if given > len(m.params) {
		r.fail("macro '%s' takes not more than %d argument(s)", m.name, len(m.params))
	}
	for _, i := range absent {
		s.set(m.params[i], m.absent(r, s, i))
	}
}

// absent is the value of a parameter without an argument. A default sees the
// parameters before it.
func (m *macro) absent(r *run, s *scope, i int) Value {
	if d := i - (len(m.params) - len(m.defaults)); d >= 0 {
		return m.defaults[d].eval(r, s)
	}
	return &undefined{message: "parameter '" + m.params[i] + "' was not provided"}
}

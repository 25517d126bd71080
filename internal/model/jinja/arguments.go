package jinja

// maxArguments bounds the named arguments and the parameters of a call.
const maxArguments = 1000

// Arguments of a call.
type arguments struct {
	positional []Value
	named      []named
}

type named struct {
	name  string
	value Value
}

// take removes a named argument.
func (a *arguments) take(name string) (Value, bool) {
	for i, n := range a.named {
		if n.name == name {
			a.named = append(a.named[:i:i], a.named[i+1:]...)
			return n.value, true
		}
	}
	return nil, false
}

// params are the parameters of a function.
type params []param

type param struct {
	name     string
	absent   Value // the default, or nil if the argument is required
	position bool  // it cannot be named
}

func required(name string) param            { return param{name: name} }
func optional(name string, v Value) param   { return param{name: name, absent: v} }
func positional(name string) param          { return param{name: name, position: true} }
func maybe(name string, absent Value) param { return param{name: name, absent: absent, position: true} }

// bind returns an argument for each parameter.
func (r *run) bind(function string, p params, a arguments) []Value {
	if len(a.positional) > len(p) {
		r.fail("%s() takes at most %d arguments, %d were given", function, len(p), len(a.positional))
	}
	values := make([]Value, len(p))
	copy(values, a.positional)
	for _, n := range a.named {
		i := p.index(n.name)
		if i < 0 {
			r.fail("%s() got an unexpected keyword argument '%s'", function, n.name)
		}
		if values[i] != nil {
			r.fail("%s() got multiple values for argument '%s'", function, n.name)
		}
		values[i] = n.value
	}
	for i := range p {
		if values[i] == nil {
			values[i] = p[i].absent
		}
		if values[i] == nil {
			r.fail("%s() misses the argument '%s'", function, p[i].name)
		}
	}
	return values
}

func (p params) index(name string) int {
	for i := range p {
		if p[i].name == name && !p[i].position {
			return i
		}
	}
	return -1
}

// text requires a text.
func (r *run) text(v Value, what string) text {
	t, ok := v.(text)
	if !ok {
		r.use(v)
		r.fail("%s must be str, not %s", what, v.typeName())
	}
	return t
}

// index requires an integer of the size of an index.
func (r *run) index(v Value, what string) int {
	if i, ok := small(v); ok {
		return int(max(min(i, 1<<40), -1<<40))
	}
	r.use(v)
	if b, ok := v.(bigInt); ok {
		return b.Sign() << 40
	}
	r.fail("%s must be an integer, not %s", what, v.typeName())
	return 0
}

func isNone(v Value) bool {
	_, ok := v.(none)
	return ok
}

// call calls a value.
func (r *run) call(fn Value, a arguments) Value {
	r.step()
	r.scan(a.positional...)
	switch fn := fn.(type) {
	case *builtin:
		if fn.raw != nil {
			return fn.raw(r, a)
		}
		return fn.call(r, r.bind(fn.name, fn.params, a))
	case *macro:
		return fn.call(r, a)
	case *loop:
		v := r.bind("loop", params{positional("iterable")}, a)
		return fn.recurse(r, v[0])
	}
	r.use(fn)
	r.fail("'%s' object is not callable", fn.typeName())
	return nil
}

package jinja

import "strings"

// An expr is a node of an expression.
type expr interface {
	eval(r *run, s *scope) Value
}

type (
	constExpr struct{ value Value }
	nameExpr  struct {
		name string
		line int
	}
	tupleExpr struct{ items []expr }
	listExpr  struct{ items []expr }
	dictExpr  struct {
		line         int
		keys, values []expr
	}
	attributeExpr struct {
		of   expr
		name string
		line int
	}
	itemExpr struct {
		of, key expr
		line    int
	}
	cutExpr  struct{ start, stop, step expr } // nil is absent
	callExpr struct {
		of   expr
		args argumentExprs
		line int
	}
	filterExpr struct {
		of   expr // nil in the tags filter and set: what they enclose
		name string
		call filter
		args argumentExprs
		line int
	}
	testExpr struct {
		of   expr
		name string
		args argumentExprs
		line int
	}
	unaryExpr struct {
		op   string
		of   expr
		line int
	}
	binaryExpr struct {
		op          string
		left, right expr
		line        int
	}
	concatExpr  struct{ parts []expr }
	compareExpr struct {
		first expr
		ops   []string
		rest  []expr
		line  int
	}
	logicExpr struct {
		and         bool
		left, right expr
	}
	condExpr struct{ condition, yes, no expr } // no can be nil
)

type argumentExprs struct {
	positional []expr
	names      []string
	named      []expr
	many       expr // *args, or nil
	mapping    expr // **kwargs, or nil
}

func (e constExpr) eval(*run, *scope) Value { return e.value }

func (e nameExpr) eval(r *run, s *scope) Value {
	r.step()
	return s.lookup(r, e.name)
}

func evalAll(r *run, s *scope, all []expr) []Value {
	r.charge(len(all) * valueBytes)
	values := make([]Value, len(all))
	for i, e := range all {
		values[i] = e.eval(r, s)
	}
	return values
}

func (e tupleExpr) eval(r *run, s *scope) Value { return tuple{items: evalAll(r, s, e.items)} }

func (e listExpr) eval(r *run, s *scope) Value { return &list{evalAll(r, s, e.items)} }

func (e dictExpr) eval(r *run, s *scope) Value {
	d := &dict{}
	for i := range e.keys {
		key, value := e.keys[i].eval(r, s), e.values[i].eval(r, s)
		r.at(e.line, "dict")
		d.set(r, key, value)
	}
	return d
}

func (e attributeExpr) eval(r *run, s *scope) Value {
	obj := e.of.eval(r, s)
	r.step()
	r.at(e.line, "attribute \""+e.name+"\"")
	return r.attribute(obj, e.name)
}

func (e itemExpr) eval(r *run, s *scope) Value {
	obj, key := e.of.eval(r, s), e.key.eval(r, s)
	r.step()
	r.at(e.line, "subscript")
	if c, ok := key.(cut); ok {
		return sliceOf(r, r.use(obj), c)
	}
	return r.subscript(obj, key)
}

func (e cutExpr) eval(r *run, s *scope) Value {
	part := func(e expr) Value {
		if e == nil {
			return none{}
		}
		return e.eval(r, s)
	}
	return cut{part(e.start), part(e.stop), part(e.step)}
}

func (e callExpr) eval(r *run, s *scope) Value {
	fn := e.of.eval(r, s)
	a := e.args.eval(r, s)
	r.at(e.line, "call")
	return r.call(fn, a)
}

func (e filterExpr) eval(r *run, s *scope) Value { return e.apply(r, s, e.of.eval(r, s)) }

// block applies the filter, and those before it, to what a tag encloses.
func (e filterExpr) block(r *run, s *scope, t text) Value {
	if before, ok := e.of.(filterExpr); ok {
		return e.apply(r, s, before.block(r, s, t))
	}
	return e.apply(r, s, t)
}

func (e filterExpr) apply(r *run, s *scope, v Value) Value {
	a := e.args.eval(r, s)
	r.at(e.line, "filter \""+e.name+"\"")
	if e.call.call == nil && e.call.raw == nil {
		return r.applyFilter(e.name, v, a) // not known: fails when it is reached
	}
	return r.filtered(e.name, e.call, v, a)
}

func (e testExpr) eval(r *run, s *scope) Value {
	v := e.of.eval(r, s)
	a := e.args.eval(r, s)
	r.at(e.line, "test \""+e.name+"\"")
	return boolean(r.applyTest(e.name, v, a))
}

func (e unaryExpr) eval(r *run, s *scope) Value {
	v := e.of.eval(r, s)
	r.step()
	r.at(e.line, "\""+e.op+"\"")
	switch e.op {
	case "not":
		return boolean(!truth(v))
	case "-":
		return negate(r, v)
	}
	return positive(r, v)
}

func (e binaryExpr) eval(r *run, s *scope) Value {
	left, right := e.left.eval(r, s), e.right.eval(r, s)
	r.step()
	r.at(e.line, "\""+e.op+"\"")
	return binary(r, e.op, left, right)
}

func (e concatExpr) eval(r *run, s *scope) Value {
	b := builder{run: r}
	for _, part := range e.parts {
		b.write(r.str(part.eval(r, s)))
	}
	return b.text()
}

func (e compareExpr) eval(r *run, s *scope) Value {
	left := e.first.eval(r, s)
	for i, op := range e.ops {
		right := e.rest[i].eval(r, s)
		r.at(e.line, "\""+op+"\"")
		if !holds(r, op, left, right) {
			return boolean(false)
		}
		left = right
	}
	return boolean(true)
}

func (e logicExpr) eval(r *run, s *scope) Value {
	left := e.left.eval(r, s)
	r.step()
	if truth(left) != e.and {
		return left
	}
	return e.right.eval(r, s)
}

func (e condExpr) eval(r *run, s *scope) Value {
	r.step()
	if truth(e.condition.eval(r, s)) {
		return e.yes.eval(r, s)
	}
	if e.no == nil {
		return &undefined{message: "the inline if-expression evaluated to false and no else section was defined"}
	}
	return e.no.eval(r, s)
}

// eval returns the arguments of a call.
func (e argumentExprs) eval(r *run, s *scope) arguments {
	a := arguments{}
	if len(e.positional) > 0 {
		a.positional = evalAll(r, s, e.positional)
	}
	for i, name := range e.names {
		a.named = append(a.named, named{name, e.named[i].eval(r, s)})
	}
	if e.many != nil {
		a.positional = append(a.positional, r.all(e.many.eval(r, s))...)
	}
	if e.mapping == nil {
		return a
	}
	v := e.mapping.eval(r, s)
	d, ok := v.(*dict)
	if !ok {
		r.use(v)
		r.fail("argument after ** must be a mapping, not %s", v.typeName())
	}
	if len(d.entries) > maxArguments {
		r.exceed(nil, "a call has more than %d arguments", maxArguments)
	}
	for _, entry := range d.entries {
		name := r.text(entry.key, "a keyword")
		for _, n := range a.named {
			if n.name == name.s {
				r.fail("got multiple values for keyword argument '%s'", name.s)
			}
		}
		a.named = append(a.named, named{strings.Clone(name.s), entry.value})
	}
	return a
}

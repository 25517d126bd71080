package jinja

// A signal says how the evaluation goes on after a statement.
type signal int

const (
	goOn signal = iota
	breakLoop
	continueLoop
)

// A stmt is a node of a template that writes output or sets variables.
type stmt interface {
	exec(r *run, s *scope, out *builder) signal
}

type (
	dataStmt  struct{ text string }
	printStmt struct{ value expr }
	ifStmt    struct {
		conditions []expr
		bodies     [][]stmt
		otherwise  []stmt
	}
	setStmt struct {
		target target
		value  expr
	}
	setBlockStmt struct {
		target target
		filter *filterExpr // nil is none
		body   []stmt
	}
	withStmt struct {
		targets []target
		values  []expr
		body    []stmt
	}
	filterStmt struct {
		filter filterExpr
		body   []stmt
	}
	macroStmt struct{ *macroDef }
	callStmt  struct {
		call  callExpr
		block *macroDef
	}
	scopeStmt struct{ body []stmt } // generation, and autoescape false
	jumpStmt  struct{ signal signal }
)

func execAll(r *run, s *scope, out *builder, body []stmt) signal {
	for _, st := range body {
		if sig := st.exec(r, s, out); sig != goOn {
			return sig
		}
	}
	return goOn
}

func (st dataStmt) exec(r *run, _ *scope, out *builder) signal {
	r.step()
	out.literal(st.text)
	return goOn
}

func (st printStmt) exec(r *run, s *scope, out *builder) signal {
	r.step()
	out.write(r.str(st.value.eval(r, s)))
	return goOn
}

func (st ifStmt) exec(r *run, s *scope, out *builder) signal {
	r.step()
	for i, condition := range st.conditions {
		if truth(condition.eval(r, s)) {
			return execAll(r, s, out, st.bodies[i])
		}
	}
	return execAll(r, s, out, st.otherwise)
}

func (st setStmt) exec(r *run, s *scope, _ *builder) signal {
	r.step()
	st.target.assign(r, s, st.value.eval(r, s))
	return goOn
}

// capture executes statements in an inner scope and returns what they write.
func capture(r *run, s *scope, body []stmt) (text, signal) {
	b := builder{run: r}
	sig := execAll(r, s.inner(), &b, body)
	return b.text(), sig
}

func (st setBlockStmt) exec(r *run, s *scope, _ *builder) signal {
	t, sig := capture(r, s, st.body)
	if sig != goOn {
		return sig
	}
	var v Value = t
	if st.filter != nil {
		v = st.filter.block(r, s, t)
	}
	st.target.assign(r, s, v)
	return goOn
}

func (st withStmt) exec(r *run, s *scope, out *builder) signal {
	inner := s.inner()
	values := evalAll(r, s, st.values)
	for i, t := range st.targets {
		t.assign(r, inner, values[i])
	}
	return execAll(r, inner, out, st.body)
}

func (st filterStmt) exec(r *run, s *scope, out *builder) signal {
	t, sig := capture(r, s, st.body)
	if sig == goOn {
		out.write(r.str(st.filter.block(r, s, t)))
	}
	return sig
}

func (st macroStmt) exec(r *run, s *scope, _ *builder) signal {
	s.set(st.name, &macro{st.macroDef, s})
	return goOn
}

func (st callStmt) exec(r *run, s *scope, out *builder) signal {
	r.step()
	fn := st.call.of.eval(r, s)
	a := st.call.args.eval(r, s)
	a.named = append(a.named, named{"caller", &macro{st.block, s}})
	r.at(st.call.line, "call block")
	out.write(r.str(r.call(fn, a)))
	return goOn
}

func (st scopeStmt) exec(r *run, s *scope, out *builder) signal {
	return execAll(r, s.inner(), out, st.body)
}

func (st jumpStmt) exec(r *run, _ *scope, _ *builder) signal {
	r.step()
	return st.signal
}

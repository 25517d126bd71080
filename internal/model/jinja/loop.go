package jinja

import "slices"

type forStmt struct {
	target    target
	over      expr
	condition expr // nil is none
	body      []stmt
	otherwise []stmt
	recursive bool
	line      int
}

func (st *forStmt) exec(r *run, s *scope, out *builder) signal {
	v := st.over.eval(r, s)
	r.at(st.line, "for")
	st.iterate(r, s, out, v, 0)
	return goOn
}

// iterate executes the loop for the items of v.
func (st *forStmt) iterate(r *run, s *scope, out *builder, v Value, depth int) {
	r.enter()
	defer r.leave()
	l := &loop{stmt: st, scope: s, depth0: depth, index0: -1, next: r.iterator(v), run: r}
	if st.condition != nil {
		l.next = st.filtered(s, l.next)
	} else if n, ok := length(v); ok {
		l.known, l.count = true, n
	}
	ran := false // as in Jinja, break and continue in the only iteration leave it false
	for {
		item, ok := l.advance(r)
		if !ok {
			break
		}
		inner := s.inner()
		inner.set("loop", l)
		st.target.assign(r, inner, item)
		sig := execAll(r, inner, out, st.body)
		if sig == breakLoop {
			break
		}
		ran = ran || sig == goOn
	}
	if !ran && len(st.otherwise) > 0 {
		execAll(r, s.inner(), out, st.otherwise)
	}
}

// filtered keeps the items for which the condition of the loop holds.
func (st *forStmt) filtered(s *scope, next func(*run) (Value, bool)) func(*run) (Value, bool) {
	return func(r *run) (Value, bool) {
		for {
			item, ok := next(r)
			if !ok {
				return nil, false
			}
			inner := s.inner()
			st.target.assign(r, inner, item)
			if truth(st.condition.eval(r, inner)) {
				return item, true
			}
		}
	}
}

// A loop is the variable loop. It reads one item ahead only if asked for it.
type loop struct {
	run    *run
	stmt   *forStmt
	scope  *scope
	depth0 int
	index0 int

	next            func(*run) (Value, bool)
	before, current Value
	after           Value // read ahead, or nil
	ended           bool
	known           bool // count is the number of items
	count           int

	changedFrom Value // the last arguments of changed, or nil
}

func (*loop) typeName() string { return "LoopContext" }

func (l *loop) advance(r *run) (Value, bool) {
	item := l.peek(r)
	if item == nil {
		return nil, false
	}
	l.after = nil
	l.index0++
	l.before, l.current = l.current, item
	return item, true
}

// iterate lets a template take items from its own loop.
func (l *loop) iterate(r *run) (Value, bool) {
	item, ok := l.advance(r)
	if !ok {
		return nil, false
	}
	return tuple{items: []Value{item, l}}, true
}

// peek returns the next item, or nil.
func (l *loop) peek(r *run) Value {
	if l.after == nil && !l.ended {
		item, ok := l.next(r)
		if !ok {
			l.ended = true
			return nil
		}
		l.after = item
	}
	return l.after
}

// length counts the items, if needed by reading all of them.
func (l *loop) length() int {
	if !l.known {
		var rest []Value
		for {
			item, ok := l.next(l.run)
			if !ok {
				break
			}
			l.run.charge(valueBytes)
			rest = append(rest, item)
		}
		l.next = over(rest)
		l.known, l.count = true, l.index0+1+len(rest)
		if l.after != nil {
			l.count++
		}
	}
	return l.count
}

func (l *loop) attribute(r *run, name string) (Value, bool) {
	switch name {
	case "index":
		return integer(l.index0 + 1), true
	case "index0":
		return integer(l.index0), true
	case "first":
		return boolean(l.index0 == 0), true
	case "last":
		return boolean(l.peek(r) == nil), true
	case "length":
		return integer(l.length()), true
	case "revindex":
		return integer(l.length() - l.index0), true
	case "revindex0":
		return integer(l.length() - l.index0 - 1), true
	case "depth":
		return integer(l.depth0 + 1), true
	case "depth0":
		return integer(l.depth0), true
	case "previtem":
		if l.index0 == 0 {
			return &undefined{message: "there is no previous item"}, true
		}
		return l.before, true
	case "nextitem":
		if item := l.peek(r); item != nil {
			return item, true
		}
		return &undefined{message: "there is no next item"}, true
	case "cycle":
		return &builtin{name: "loop.cycle", raw: l.cycle}, true
	case "changed":
		return &builtin{name: "loop.changed", raw: l.changed}, true
	}
	return nil, false
}

func (l *loop) cycle(r *run, a arguments) Value {
	if len(a.positional) == 0 {
		r.fail("no items for cycling given")
	}
	return a.positional[l.index0%len(a.positional)]
}

// changed reports whether its arguments differ from those of the last call.
func (l *loop) changed(r *run, a arguments) Value {
	now := tuple{items: slices.Clone(a.positional)}
	if l.changedFrom != nil && equal(r, l.changedFrom, now) {
		return boolean(false)
	}
	l.changedFrom = now
	return boolean(true)
}

// recurse executes a recursive loop for other items.
func (l *loop) recurse(r *run, v Value) Value {
	if !l.stmt.recursive {
		r.fail("The loop must have the 'recursive' marker to be called recursively.")
	}
	b := builder{run: r}
	l.stmt.iterate(r, l.scope, &b, v, l.depth0+1)
	return b.text()
}

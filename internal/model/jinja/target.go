package jinja

// A target is what set, for and with assign: a name, an attribute of a
// namespace, or a tuple of targets.
type target struct {
	name  string
	attr  string // of the namespace with that name, or ""
	items []target
	line  int
	tuple bool
}

func (t target) assign(r *run, s *scope, v Value) {
	switch {
	case t.tuple:
		r.at(t.line, "assignment")
		next, ok := r.iterate(v)
		if !ok {
			r.use(v)
			r.fail("cannot unpack non-iterable %s object", v.typeName())
		}
		values := make([]Value, 0, len(t.items))
		for {
			item, more := next(r)
			if !more {
				break
			}
			if len(values) == len(t.items) {
				r.fail("too many values to unpack (expected %d)", len(t.items))
			}
			values = append(values, item)
		}
		if len(values) < len(t.items) {
			r.fail("not enough values to unpack (expected %d, got %d)", len(t.items), len(values))
		}
		for i := range t.items {
			t.items[i].assign(r, s, values[i])
		}
	case t.attr != "":
		r.at(t.line, "assignment")
		ns, ok := s.lookup(r, t.name).(*namespace)
		if !ok {
			r.fail("cannot assign attribute on non-namespace object")
		}
		ns.attrs.set(r, text{s: t.attr}, v)
	default:
		s.set(t.name, v)
	}
}

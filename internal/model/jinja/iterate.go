package jinja

// iterate returns a function that gives the items of v one by one, if v has
// items.
func (r *run) iterate(v Value) (next func(*run) (Value, bool), ok bool) {
	switch v := v.(type) {
	case *list:
		return over(v.items), true
	case tuple:
		return over(v.items), true
	case *view:
		return over(v.items), true
	case *dict:
		r.reserve(len(v.entries), valueBytes)
		return over(v.keys()), true
	case *undefined:
		return over(nil), true
	case *generator:
		return v.next, true
	case *loop:
		return v.iterate, true
	case text:
		at := 0
		return func(r *run) (Value, bool) {
			if at == len(v.s) {
				return nil, false
			}
			r.step()
			rest := v.cut(at, len(v.s))
			c := rest.cut(0, rest.offset(1))
			at += len(c.s)
			return c, true
		}, true
	case interval:
		i, n := 0, v.length()
		return func(r *run) (Value, bool) {
			if i == n {
				return nil, false
			}
			r.step()
			i++
			return v.at(i - 1), true
		}, true
	}
	return nil, false
}

func over(items []Value) func(*run) (Value, bool) {
	return func(r *run) (Value, bool) {
		if len(items) == 0 {
			return nil, false
		}
		r.step()
		v := items[0]
		items = items[1:]
		return v, true
	}
}

// iterator is iterate for values that must have items.
func (r *run) iterator(v Value) func(*run) (Value, bool) {
	next, ok := r.iterate(v)
	if !ok {
		r.fail("'%s' object is not iterable", v.typeName())
	}
	return next
}

// all returns the items of v.
func (r *run) all(v Value) []Value {
	next := r.iterator(v)
	var items []Value
	for {
		item, ok := next(r)
		if !ok {
			return items
		}
		r.charge(valueBytes)
		items = append(items, item)
	}
}

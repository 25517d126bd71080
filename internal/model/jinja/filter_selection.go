package jinja

// selectionFilters apply a filter or a test to each item.
func selectionFilters() map[string]filter {
	return map[string]filter{
		"map":        {raw: mapFilter},
		"select":     selection(false, true),
		"reject":     selection(false, false),
		"selectattr": selection(true, true),
		"rejectattr": selection(true, false),
	}
}

// pending returns a generator that is made when its first item is asked for,
// as those of Python: only then its faults show.
func pending(start func(*run) func(*run) (Value, bool)) Value {
	var next func(*run) (Value, bool)
	return lazy(func(r *run) (Value, bool) {
		if next == nil {
			next = start(r)
		}
		return next(r)
	})
}

func mapFilter(_ *run, v Value, a arguments) Value {
	return pending(func(r *run) func(*run) (Value, bool) {
		if !truth(v) {
			return over(nil)
		}
		apply := itemMapping(r, a)
		next := r.iterator(v)
		return func(r *run) (Value, bool) {
			item, ok := next(r)
			if !ok {
				return nil, false
			}
			return apply(r, item), true
		}
	})
}

// itemMapping returns what map does with an item: it takes an attribute, or calls a
// filter.
func itemMapping(r *run, a arguments) func(*run, Value) Value {
	if path, ok := a.take("attribute"); ok && len(a.positional) == 0 {
		absent, _ := a.take("default")
		if absent != nil && isNone(absent) {
			absent = nil
		}
		if len(a.named) > 0 {
			r.fail("Unexpected keyword argument '%s'", a.named[0].name)
		}
		get := getter(r, path, absent)
		return func(_ *run, v Value) Value { return get(v) }
	}
	if len(a.positional) == 0 {
		r.fail("map requires a filter argument")
	}
	name, rest := r.text(a.positional[0], "the name of a filter").s, arguments{a.positional[1:], a.named}
	return func(r *run, v Value) Value { return r.applyFilter(name, v, rest) }
}

// selection is one of the filters that keep the items for which a test, of the
// item or of an attribute, has a result.
func selection(attribute, want bool) filter {
	return filter{raw: func(_ *run, v Value, a arguments) Value {
		return pending(func(r *run) func(*run) (Value, bool) {
			if !truth(v) {
				return over(nil)
			}
			holds := predicate(r, attribute, a)
			next := r.iterator(v)
			return func(r *run) (Value, bool) {
				for {
					item, ok := next(r)
					if !ok || holds(r, item) == want {
						return item, ok
					}
				}
			}
		})
	}}
}

func predicate(r *run, attribute bool, a arguments) func(*run, Value) bool {
	get := func(v Value) Value { return v }
	rest := a.positional
	if attribute {
		if len(rest) == 0 {
			r.fail("Missing parameter for attribute name")
		}
		get, rest = getter(r, rest[0], nil), rest[1:]
	}
	if len(rest) == 0 {
		return func(_ *run, v Value) bool { return truth(get(v)) }
	}
	name, args := r.text(rest[0], "the name of a test").s, arguments{rest[1:], a.named}
	return func(r *run, v Value) bool { return r.applyTest(name, get(v), args) }
}

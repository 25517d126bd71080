package jinja

import "maps"

// A filter changes a value.
type filter struct {
	params params
	call   func(r *run, v Value, args []Value) Value
	raw    func(r *run, v Value, a arguments) Value // instead of params and call
}

// filters returns the filters by name. Jinja has more: some make HTML (urlize,
// xmlattr, striptags), one is random.
func filters() map[string]filter {
	all := map[string]filter{}
	for _, some := range []map[string]filter{textFilters, collectionFilters, orderFilters, numberFilters, selectionFilters()} {
		maps.Copy(all, some)
	}
	return all
}

// unsupportedFilters exist in Jinja and not here.
var unsupportedFilters = []string{"center", "filesizeformat", "pprint", "random", "striptags", "urlencode", "urlize", "wordwrap", "xmlattr"}

// applyFilter calls a filter by name, as map does.
func (r *run) applyFilter(name string, v Value, a arguments) Value {
	f, ok := r.template.filters[name]
	if !ok {
		r.fail("no filter named %q", name)
	}
	return r.filtered(name, f, v, a)
}

func (r *run) filtered(name string, f filter, v Value, a arguments) Value {
	r.step()
	r.scan(v)
	r.scan(a.positional...)
	if f.raw != nil {
		return f.raw(r, v, a)
	}
	return f.call(r, v, r.bind(name, f.params, a))
}

// lazy returns a generator.
func lazy(next func(*run) (Value, bool)) Value { return &generator{"generator", next} }

// getter returns the function that follows a path of attributes, such as
// "a.b.0"; None is the value itself.
func getter(r *run, path Value, absent Value) func(Value) Value {
	var parts []Value
	switch p := path.(type) {
	case none:
	case text:
		for _, part := range splitText(r, p, text{s: "."}, integer(-1)) {
			parts = append(parts, asIndex(part.(text)))
		}
	default:
		parts = []Value{path}
	}
	return func(v Value) Value {
		for _, part := range parts {
			v = r.subscript(v, part)
			if _, ok := v.(*undefined); ok && absent != nil {
				v = absent
			}
		}
		return v
	}
}

// asIndex returns a text of digits as a number.
func asIndex(t text) Value {
	if t.s == "" {
		return t
	}
	var i int64
	for _, c := range t.s {
		if c < '0' || c > '9' || i > 1<<40 {
			return t
		}
		i = i*10 + int64(c-'0')
	}
	return integer(i)
}

// folded makes texts small, for comparisons that ignore case.
func folded(v Value) Value {
	if t, ok := v.(text); ok {
		return t.mapped(lower).unmarked()
	}
	return v
}

// caseless returns the getter with folded results unless the case counts.
func caseless(r *run, path, sensitive Value) func(Value) Value {
	get := getter(r, path, nil)
	if truth(sensitive) {
		return get
	}
	return func(v Value) Value { return folded(get(v)) }
}

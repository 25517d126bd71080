package jinja

import "slices"

var collectionFilters = map[string]filter{
	"length": {params{}, lengthFilter, nil},
	"count":  {params{}, lengthFilter, nil},
	"list":   {params{}, func(r *run, v Value, _ []Value) Value { return &list{r.all(v)} }, nil},
	"items":  {params{}, itemsFilter, nil},
	"first":  {params{}, firstFilter, nil},
	"last":   {params{}, lastFilter, nil},
	"reverse": {params{}, func(r *run, v Value, _ []Value) Value {
		if t, ok := v.(text); ok {
			return sliceText(r, t, t.runes()-1, -1, -1)
		}
		items := r.all(v)
		slices.Reverse(items)
		if _, ok := v.(*generator); ok {
			return &list{items}
		}
		return &generator{"list_reverseiterator", over(items)}
	}, nil},
	"attr": {params{required("name")}, func(r *run, v Value, a []Value) Value {
		name := r.text(a[0], "the name of the attribute")
		if found, ok := r.own(r.use(v), name.s); ok {
			return found
		}
		return missing(v, name)
	}, nil},
	"default": {params{optional("default_value", text{}), optional("boolean", boolean(false))}, defaultFilter, nil},
	"d":       {params{optional("default_value", text{}), optional("boolean", boolean(false))}, defaultFilter, nil},
	"batch":   {params{required("linecount"), optional("fill_with", none{})}, batchFilter, nil},
	"slice":   {params{required("slices"), optional("fill_with", none{})}, sliceFilter, nil},
}

func lengthFilter(r *run, v Value, _ []Value) Value {
	n, ok := length(v)
	if !ok {
		r.fail("object of type '%s' has no len()", v.typeName())
	}
	return integer(n)
}

func itemsFilter(r *run, v Value, _ []Value) Value {
	switch v := v.(type) {
	case *dict:
		r.reserve(len(v.entries), 3*valueBytes)
		return lazy(over(v.items()))
	case *undefined:
		return lazy(over(nil))
	}
	return lazy(func(r *run) (Value, bool) {
		r.fail("Can only get item pairs from a mapping.")
		return nil, false
	})
}

func firstFilter(r *run, v Value, _ []Value) Value {
	if first, ok := r.iterator(v)(r); ok {
		return first
	}
	return &undefined{message: "No first item, sequence was empty."}
}

func lastFilter(r *run, v Value, _ []Value) Value {
	if _, ok := v.(*generator); ok {
		r.fail("'generator' object is not reversible")
	}
	items := r.all(v)
	if len(items) == 0 {
		return &undefined{message: "No last item, sequence was empty."}
	}
	return items[len(items)-1]
}

func defaultFilter(_ *run, v Value, a []Value) Value {
	if _, ok := v.(*undefined); ok || truth(a[1]) && !truth(v) {
		return a[0]
	}
	return v
}

func batchFilter(r *run, v Value, a []Value) Value {
	size := r.index(a[0], "linecount")
	items := r.all(v)
	if size <= 0 {
		size = max(len(items), 1)
	}
	var out []Value
	for part := range slices.Chunk(items, size) {
		part = slices.Clone(part)
		if missing := size - len(part); missing > 0 && !isNone(a[1]) {
			r.reserve(missing, valueBytes)
			part = append(part, slices.Repeat([]Value{a[1]}, missing)...)
		}
		out = append(out, &list{part})
	}
	return lazy(over(out))
}

func sliceFilter(r *run, v Value, a []Value) Value {
	n := r.index(a[0], "slices")
	items := r.all(v)
	if n <= 0 {
		if n == 0 {
			r.fail("integer division or modulo by zero")
		}
		return lazy(over(nil))
	}
	r.reserve(n, valueBytes)
	size, extra := len(items)/n, len(items)%n
	out := make([]Value, 0, n)
	for i := range n {
		k := size
		if i < extra {
			k++
		}
		part := slices.Clone(items[:k])
		items = items[k:]
		if i >= extra && !isNone(a[1]) {
			part = append(part, a[1])
		}
		out = append(out, &list{part})
	}
	return lazy(over(out))
}

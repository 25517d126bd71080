package jinja

import "slices"

var orderFilters = map[string]filter{
	"dictsort": {params{optional("case_sensitive", boolean(false)), optional("by", text{s: "key"}), optional("reverse", boolean(false))}, dictsort, nil},
	"sort":     {params{optional("reverse", boolean(false)), optional("case_sensitive", boolean(false)), optional("attribute", none{})}, sortFilter, nil},
	"unique":   {params{optional("case_sensitive", boolean(false)), optional("attribute", none{})}, unique, nil},
	"min":      {params{optional("case_sensitive", boolean(false)), optional("attribute", none{})}, extreme("<"), nil},
	"max":      {params{optional("case_sensitive", boolean(false)), optional("attribute", none{})}, extreme(">"), nil},
	"groupby":  {params{required("attribute"), optional("default", none{}), optional("case_sensitive", boolean(false))}, groupby, nil},
}

// sorted orders items by their keys and keeps the order of equal ones.
func sorted(r *run, items []Value, key func(Value) Value, reverse bool) []Value {
	type keyed struct{ key, item Value }
	all := make([]keyed, len(items))
	for i, item := range items {
		all[i] = keyed{key(item), item}
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		c := compare(r, "<", a.key, b.key)
		if c == unordered {
			return 0
		}
		if reverse {
			return -c
		}
		return c
	})
	out := make([]Value, len(all))
	for i, k := range all {
		out[i] = k.item
	}
	return out
}

func dictsort(r *run, v Value, a []Value) Value {
	d, ok := r.use(v).(*dict)
	if !ok {
		r.fail("'%s object' has no attribute 'items'", v.typeName())
	}
	at := 0
	switch r.str(a[1]).s {
	case "key":
	case "value":
		at = 1
	default:
		r.fail(`You can only sort by either "key" or "value"`)
	}
	r.reserve(len(d.entries), 3*valueBytes)
	return &list{sorted(r, d.items(), func(v Value) Value {
		part := v.(tuple).items[at]
		if truth(a[0]) {
			return part
		}
		return folded(part)
	}, truth(a[2]))}
}

// sortFilter orders by an attribute, or by several that commas separate.
func sortFilter(r *run, v Value, a []Value) Value {
	paths := []Value{a[2]}
	if t, ok := a[2].(text); ok {
		paths = splitText(r, t, text{s: ","}, integer(-1))
	}
	var gets []func(Value) Value
	for _, p := range paths {
		gets = append(gets, caseless(r, p, a[1]))
	}
	return &list{sorted(r, r.all(v), func(v Value) Value {
		keys := make([]Value, len(gets))
		for i, get := range gets {
			keys[i] = get(v)
		}
		return &list{keys}
	}, truth(a[0]))}
}

func unique(r *run, v Value, a []Value) Value {
	get, next, seen := caseless(r, a[1], a[0]), r.iterator(v), map[any]bool{}
	return lazy(func(r *run) (Value, bool) {
		for {
			item, ok := next(r)
			if !ok {
				return nil, false
			}
			if h := r.hash(get(item)); !seen[h] {
				r.charge(valueBytes)
				seen[h] = true
				return item, true
			}
		}
	})
}

// extreme is the filter min or max.
func extreme(op string) func(r *run, v Value, a []Value) Value {
	return func(r *run, v Value, a []Value) Value {
		get := caseless(r, a[1], a[0])
		items := r.all(v)
		if len(items) == 0 {
			return &undefined{message: "No aggregated item, sequence was empty."}
		}
		best, key := items[0], get(items[0])
		for _, item := range items[1:] {
			if k := get(item); holds(r, op, k, key) {
				best, key = item, k
			}
		}
		return best
	}
}

// groupby returns pairs of a value and the items that have it.
func groupby(r *run, v Value, a []Value) Value {
	var absent Value
	if !isNone(a[1]) {
		absent = a[1]
	}
	plain := getter(r, a[0], absent)
	key := plain
	if !truth(a[2]) {
		key = func(v Value) Value { return folded(plain(v)) }
	}
	var groups []*list
	var keys, out []Value
	for _, item := range sorted(r, r.all(v), key, false) {
		k := key(item)
		if n := len(keys); n == 0 || !equal(r, keys[n-1], k) {
			groups, keys = append(groups, &list{}), append(keys, k)
		}
		of := groups[len(groups)-1]
		of.items = append(of.items, item)
	}
	for _, g := range groups {
		r.charge(3 * valueBytes)
		out = append(out, tuple{items: []Value{plain(g.items[0]), g}, names: []string{"grouper", "list"}})
	}
	return &list{out}
}

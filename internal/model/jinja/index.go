package jinja

import "slices"

// A cut is the key of a slice, x[start:stop:step].
type cut struct{ start, stop, step Value }

func (cut) typeName() string { return "slice" }

// itemOf is Python's obj[key]; ok is false if it raises TypeError or LookupError.
func itemOf(r *run, obj, key Value) (v Value, ok bool) {
	if d, ok := obj.(*dict); ok {
		h, ok := hash1(key)
		if !ok {
			return nil, false
		}
		i, ok := d.find(h)
		if !ok {
			return nil, false
		}
		return d.entries[i].value, true
	}
	i, ok := small(key)
	if !ok {
		return nil, false
	}
	n, ok := length(obj)
	if i < 0 {
		i += int64(n)
	}
	if !ok || i < 0 || i >= int64(n) {
		return nil, false
	}
	switch o := obj.(type) {
	case *list:
		return o.items[i], true
	case tuple:
		return o.items[i], true
	case interval:
		return o.at(int(i)), true
	case text:
		r.scan(o)
		start := o.offset(int(i))
		rest := o.cut(start, len(o.s))
		return rest.cut(0, rest.offset(1)), true
	}
	return nil, false
}

// sliceOf is Python's obj[start:stop:step]. Unlike other subscripts it fails for
// a value without items.
func sliceOf(r *run, obj Value, c cut) Value {
	n, _ := length(obj)
	switch o := obj.(type) {
	case text:
		start, stop, step := bounds(r, c, n)
		return sliceText(r, o, start, stop, step)
	case *list:
		return &list{pick(r, o.items, c)}
	case tuple:
		return tuple{items: pick(r, o.items, c)}
	case interval:
		start, stop, step := bounds(r, c, n)
		return interval{o.start + int64(start)*o.step, o.start + int64(stop)*o.step, o.step * int64(step)}
	}
	r.fail("'%s' object has no slices", obj.typeName())
	return nil
}

// bounds returns the first index, the one after the last, and the step of a
// slice of n items.
func bounds(r *run, c cut, n int) (start, stop, step int) {
	step = 1
	for _, part := range []Value{c.start, c.stop, c.step} {
		if _, whole := whole(part); !isNone(part) && !whole {
			r.fail("slice indices must be integers or None")
		}
	}
	if !isNone(c.step) {
		step = r.index(c.step, "slice step")
	}
	if step == 0 {
		r.fail("slice step cannot be zero")
	}
	low, high := 0, n
	if step < 0 {
		low, high = -1, n-1
	}
	clamp := func(v Value, absent int) int {
		if isNone(v) {
			return absent
		}
		i := r.index(v, "slice index")
		if i < 0 {
			i += n
		}
		return min(max(i, low), high)
	}
	if step > 0 {
		return clamp(c.start, 0), clamp(c.stop, n), step
	}
	return clamp(c.start, n-1), clamp(c.stop, -1), step
}

func pick(r *run, items []Value, c cut) []Value {
	start, stop, step := bounds(r, c, len(items))
	if step == 1 {
		if start >= stop {
			return nil
		}
		r.reserve(stop-start, valueBytes)
		return slices.Clone(items[start:stop])
	}
	var out []Value
	for i := start; step > 0 && i < stop || step < 0 && i > stop; i += step {
		r.charge(valueBytes)
		out = append(out, items[i])
	}
	return out
}

func sliceText(r *run, t text, start, stop, step int) Value {
	r.scan(t)
	if step == 1 {
		if start >= stop {
			return text{safe: t.safe}
		}
		from := t.offset(start)
		rest := t.cut(from, len(t.s))
		return rest.cut(0, rest.offset(stop-start))
	}
	var characters []text
	for rest := t; rest.s != ""; {
		n := rest.offset(1)
		r.charge(valueBytes)
		characters = append(characters, rest.cut(0, n))
		rest = rest.cut(n, len(rest.s))
	}
	b := builder{run: r}
	for i := start; step > 0 && i < stop || step < 0 && i > stop; i += step {
		b.write(characters[i])
	}
	return b.text().marked(t.safe)
}

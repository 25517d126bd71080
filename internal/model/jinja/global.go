package jinja

// unsupportedFunctions exist in Jinja and not here.
var unsupportedFunctions = []string{"cycler", "joiner", "lipsum"}

// globals are the functions that every template has.
var globals = map[string]Value{
	"range":     &builtin{name: "range", params: params{positional("start"), maybe("stop", none{}), maybe("step", integer(1))}, call: rangeFunction},
	"dict":      &builtin{name: "dict", raw: dictFunction},
	"namespace": &builtin{name: "namespace", raw: namespaceFunction},
	"raise_exception": &builtin{name: "raise_exception", params: params{required("message")}, call: func(r *run, a []Value) Value {
		failAt(Raised, r.line, "", "%s", r.str(a[0]).s)
		return nil
	}},
	"strftime_now": &builtin{name: "strftime_now", params: params{required("format")}, call: func(r *run, a []Value) Value {
		t := r.text(a[0], "the format of strftime_now")
		r.reserve(len(t.s), 16)
		return derived(strftime(r.now(), t.s), t)
	}},
}

// maxRange is the longest range that the sandbox of Jinja allows.
const maxRange = 100_000

func rangeFunction(r *run, a []Value) Value {
	start, stop, step := a[0], a[1], r.index(a[2], "the step of range")
	if isNone(stop) {
		start, stop = integer(0), start
	}
	if step == 0 {
		r.fail("range() arg 3 must not be zero")
	}
	v := interval{int64(r.index(start, "an argument of range")), int64(r.index(stop, "an argument of range")), int64(step)}
	if v.length() > maxRange {
		r.fail("Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", maxRange)
	}
	return v
}

// dictFunction is dict(mapping or pairs, key=value...).
func dictFunction(r *run, a arguments) Value {
	d := &dict{}
	if len(a.positional) > 1 {
		r.fail("dict expected at most 1 argument, got %d", len(a.positional))
	}
	for _, from := range a.positional {
		if other, ok := from.(*dict); ok {
			d = copyDict(r, other)
			continue
		}
		for _, pair := range r.all(from) {
			both := r.all(pair)
			if len(both) != 2 {
				r.fail("an element of dict() has %d items, want 2", len(both))
			}
			d.set(r, both[0], both[1])
		}
	}
	for _, n := range a.named {
		d.set(r, text{s: n.name}, n.value)
	}
	return d
}

func namespaceFunction(r *run, a arguments) Value {
	return &namespace{dictFunction(r, a).(*dict)}
}

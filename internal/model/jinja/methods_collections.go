package jinja

var dictMethods = map[string]method{
	"items": {params{}, func(r *run, self Value, _ []Value) Value {
		d := self.(*dict)
		r.reserve(len(d.entries), 3*valueBytes)
		return &view{"dict_items", d.items()}
	}},
	"keys": {params{}, func(r *run, self Value, _ []Value) Value {
		d := self.(*dict)
		r.reserve(len(d.entries), valueBytes)
		return &view{"dict_keys", d.keys()}
	}},
	"values": {params{}, func(r *run, self Value, _ []Value) Value {
		d := self.(*dict)
		r.reserve(len(d.entries), valueBytes)
		return &view{"dict_values", d.values()}
	}},
	"get": {params{positional("key"), maybe("default", none{})}, func(r *run, self Value, args []Value) Value {
		if v, ok := self.(*dict).get(r, args[0]); ok {
			return v
		}
		return args[1]
	}},
	"copy": {params{}, func(r *run, self Value, _ []Value) Value { return copyDict(r, self.(*dict)) }},
}

func copyDict(r *run, d *dict) *dict {
	out := &dict{}
	for _, e := range d.entries {
		out.set(r, e.key, e.value)
	}
	return out
}

// sequenceMethods are those of list, tuple and range.
var sequenceMethods = map[string]method{
	"count": {params{positional("value")}, func(r *run, self Value, args []Value) Value {
		n := 0
		for _, v := range r.all(self) {
			if equal(r, v, args[0]) {
				n++
			}
		}
		return integer(n)
	}},
	"index": {
		params{positional("value"), maybe("start", integer(0)), maybe("stop", integer(1<<40))},
		func(r *run, self Value, args []Value) Value {
			items := r.all(self)
			start, stop, _ := bounds(r, cut{args[1], args[2], none{}}, len(items))
			for i := start; i < stop; i++ {
				if equal(r, items[i], args[0]) {
					return integer(i)
				}
			}
			r.fail("the value is not in the %s", self.typeName())
			return nil
		},
	},
}

package jinja

import (
	"fmt"
	"math"
	"strings"
)

// A dict maps values to values, in the order of insertion.
type dict struct {
	entries []entry
	index   map[any]int // by key; nil while there are few entries
}

type entry struct{ key, value Value }

// fewEntries is the size up to which comparing all keys beats hashing.
const fewEntries = 8

// A Pair is an entry of a dict with a text as its key.
type Pair struct {
	Key   string
	Value Value
}

// Dict returns a dict. Keys count as written by the template.
func Dict(pairs ...Pair) Value {
	d := &dict{}
	for _, p := range pairs {
		d.put(p.Key, text{s: p.Key}, p.Value)
	}
	return d
}

func (*dict) typeName() string { return "dict" }

// put sets a key whose hash is known.
func (d *dict) put(hash any, key, value Value) {
	if i, ok := d.find(hash); ok {
		d.entries[i].value = value
		return
	}
	d.entries = append(d.entries, entry{key, value})
	n := len(d.entries)
	if d.index != nil {
		d.index[hash] = n - 1
		return
	}
	if n > fewEntries {
		d.index = make(map[any]int, 2*n)
		for i, e := range d.entries {
			h, _ := hash1(e.key)
			d.index[h] = i
		}
	}
}

func (d *dict) find(hash any) (int, bool) {
	if d.index != nil {
		i, ok := d.index[hash]
		return i, ok
	}
	s, isText := hash.(string)
	for i, e := range d.entries {
		if key, ok := e.key.(text); ok {
			if isText && key.s == s {
				return i, true
			}
			continue
		}
		if h, ok := hash1(e.key); ok && h == hash {
			return i, true
		}
	}
	return 0, false
}

// text returns the value of a text.
func (d *dict) text(key string) (Value, bool) {
	if i, ok := d.find(key); ok {
		return d.entries[i].value, true
	}
	return nil, false
}

// get returns the value of a key. It fails if the key has no hash.
func (d *dict) get(r *run, key Value) (Value, bool) {
	if i, ok := d.find(r.hash(key)); ok {
		return d.entries[i].value, true
	}
	return nil, false
}

func (d *dict) set(r *run, key, value Value) {
	r.charge(valueBytes)
	d.put(r.hash(key), key, value)
}

func (d *dict) keys() []Value {
	keys := make([]Value, len(d.entries))
	for i, e := range d.entries {
		keys[i] = e.key
	}
	return keys
}

func (d *dict) values() []Value {
	values := make([]Value, len(d.entries))
	for i, e := range d.entries {
		values[i] = e.value
	}
	return values
}

func (d *dict) items() []Value {
	items := make([]Value, len(d.entries))
	for i, e := range d.entries {
		items[i] = tuple{items: []Value{e.key, e.value}}
	}
	return items
}

// hash returns a comparable Go value that is equal for equal keys.
func (r *run) hash(key Value) any {
	h, ok := hash1(key)
	if !ok {
		r.fail("unhashable type: '%s'", key.typeName())
	}
	return h
}

type (
	noneHash      struct{}
	undefinedHash struct{}
	bigHash       string
	tupleHash     string
	rangeHash     interval
)

func hash1(key Value) (any, bool) {
	switch k := key.(type) {
	case none:
		return noneHash{}, true
	case boolean:
		if k {
			return int64(1), true
		}
		return int64(0), true
	case integer:
		return int64(k), true
	case bigInt:
		return bigHash(k.String()), true
	case float:
		if f := float64(k); f == math.Trunc(f) && math.Abs(f) < 1<<63 {
			return int64(f), true
		}
		return float64(k), true
	case text:
		return k.s, true
	case tuple:
		var b strings.Builder
		for _, item := range k.items {
			h, ok := hash1(item)
			if !ok {
				return nil, false
			}
			s := fmt.Sprint(h)
			fmt.Fprintf(&b, "%T %d %s;", h, len(s), s)
		}
		return tupleHash(b.String()), true
	case interval:
		return rangeHash(k), true
	case *undefined:
		return undefinedHash{}, true
	case *list, *dict, *view:
		return nil, false
	}
	return key, true // by identity: a pointer
}

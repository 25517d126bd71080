package constrain

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// object adds objects with the properties of a schema, in its order. Properties
// that are not required may be missing. Other properties come only if the schema
// has none of its own.
func (c *compiler) object(o *object, pointer string, next int32) (int32, error) {
	keys, err := c.properties(o, pointer)
	if err != nil {
		return 0, err
	}
	required, err := c.required(o, pointer)
	if err != nil {
		return 0, err
	}
	more, others := o.find("additionalProperties")
	if !others {
		more = always()
	}
	closed := more.boolean != nil && !*more.boolean
	schemaOf := func(key string) (value, string) {
		if p := o.get("properties"); p.object != nil && p.object.has(key) {
			return p.object.get(key), c.below(pointer, "properties", key)
		}
		return more, c.below(pointer, "additionalProperties")
	}
	for _, key := range required.order {
		if p := o.get("properties"); p.object == nil || !p.object.has(key) {
			if closed {
				return 0, &SchemaError{pointer + "/required", fmt.Sprintf("there is no property %.100q", key)}
			}
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 && !closed && !o.has("properties") {
		return c.freeObject(more, pointer, next)
	}
	g := c.g
	last := g.literal("}", next)
	some, none := g.call(ruleSpace, last), last // after at least one property, or before the first
	for i := len(keys) - 1; i >= 0; i-- {
		schema, at := schemaOf(keys[i])
		start, err := c.schema(schema, at, some)
		if err != nil {
			return 0, err
		}
		member := g.literal(quote(keys[i])+":", g.optionalBlank(start))
		following := g.literal(",", g.call(ruleSpace, member))
		if required.has[keys[i]] {
			some, none = following, member
			continue
		}
		some, none = g.split(following, some), g.split(member, none)
	}
	if none != last {
		last = g.call(ruleSpace, none)
	}
	start := g.literal("{", last)
	if g.err != nil {
		return 0, c.fail(pointer)
	}
	return start, nil
}

// always is the schema that all values fulfil.
func always() value {
	yes := true
	return value{boolean: &yes}
}

// freeObject adds objects with any keys, whose values have one schema.
func (c *compiler) freeObject(values value, pointer string, next int32) (int32, error) {
	if values.boolean != nil {
		return c.g.call(ruleObject, next), nil
	}
	var err error
	start := c.g.members(func(next int32) (start int32) {
		start, err = c.schema(values, c.below(pointer, "additionalProperties"), next)
		return start
	}, next)
	return start, err
}

func (c *compiler) properties(o *object, pointer string) ([]string, error) {
	p, ok := o.find("properties")
	if !ok {
		return nil, nil
	}
	if p.object == nil {
		return nil, &SchemaError{pointer + "/properties", "it must be an object"}
	}
	return append([]string(nil), p.object.keys...), nil
}

// A nameSet keeps the order of its names.
type nameSet struct {
	order []string
	has   map[string]bool
}

func (c *compiler) required(o *object, pointer string) (nameSet, error) {
	out := nameSet{has: map[string]bool{}}
	list, ok := o.find("required")
	if ok && list.array == nil {
		return out, &SchemaError{pointer + "/required", "it must be an array of strings"}
	}
	for _, name := range list.array {
		if !c.g.spend(keyWork) || !c.g.take(memberMemory) {
			return out, c.fail(pointer + "/required")
		}
		if name.text == nil {
			return out, &SchemaError{pointer + "/required", "it must be an array of strings"}
		}
		if !out.has[*name.text] {
			out.has[*name.text] = true
			out.order = append(out.order, *name.text)
		}
	}
	return out, nil
}

// array adds arrays: first the elements of prefixItems, then those of items.
func (c *compiler) array(o *object, pointer string, next int32) (int32, error) {
	least, _, err := count(o, "minItems", pointer)
	if err != nil {
		return 0, err
	}
	most, limited, err := count(o, "maxItems", pointer)
	if err != nil {
		return 0, err
	}
	if u, ok := o.find("uniqueItems"); ok && (u.boolean == nil || *u.boolean) {
		return 0, &SchemaError{pointer + "/uniqueItems", `"uniqueItems" is not supported`}
	}
	first := o.get("prefixItems").array
	if o.has("prefixItems") && first == nil {
		return 0, &SchemaError{pointer + "/prefixItems", "it must be an array of schemas"}
	}
	items, ok := o.find("items")
	if !ok {
		items = always()
	}
	if items.boolean != nil && !*items.boolean && (!limited || most > len(first)) {
		most, limited = len(first), true
	}
	if limited && most < least {
		return 0, &SchemaError{pointer, fmt.Sprintf("no array has at least %d and at most %d elements", least, most)}
	}
	if !limited && least <= 1 && len(first) == 0 {
		return c.list(items, pointer, least, next)
	}
	return c.counted(first, items, pointer, least, most, limited, next)
}

// list adds arrays of any length, or of at least one element.
func (c *compiler) list(items value, pointer string, least int, next int32) (int32, error) {
	var err error
	start := c.g.elements(func(next int32) (start int32) {
		start, err = c.schema(items, c.below(pointer, "items"), next)
		return start
	}, next)
	if least == 1 && err == nil && c.g.err == nil { // without the way to "]" at once
		start = c.g.literal("[", c.g.nodes[c.g.nodes[start].next].next)
	}
	return start, err
}

// counted adds arrays of limited length. Each position is a state of its own.
func (c *compiler) counted(first []value, items value, pointer string, least, most int, limited bool, next int32) (int32, error) {
	g := c.g
	last := g.literal("]", next)
	closing := g.call(ruleSpace, last)
	known := max(len(first), least)
	if limited {
		known = most
	}
	var rest int32 // the rule of an element after the first ones
	if known > len(first) || !limited {
		rest = c.ref(c.below(pointer, "items"), items)
	}
	at := closing // after the last known element
	if !limited {
		more := g.split(0, 0)
		g.nodes[more].next = g.literal(",", g.call(ruleSpace, g.call(rest, more)))
		g.nodes[more].other = closing
		at = more
	}
	for i := known - 1; i >= 0; i-- {
		var element int32
		if i < len(first) {
			var err error
			if element, err = c.schema(first[i], c.below(pointer, "prefixItems", strconv.Itoa(i)), at); err != nil {
				return 0, err
			}
		} else {
			element = g.call(rest, at)
		}
		if g.err != nil {
			return 0, c.fail(pointer)
		}
		if i == 0 {
			if at = g.call(ruleSpace, element); least == 0 {
				at = g.split(at, last)
			}
			return g.literal("[", at), nil
		}
		if at = g.literal(",", g.call(ruleSpace, element)); i >= least {
			at = g.split(at, closing)
		}
	}
	return g.literal("[", last), nil // maxItems is 0
}

// count returns a keyword that is a number of elements.
func count(o *object, key, pointer string) (n int, ok bool, err error) {
	v, ok := o.find(key)
	if !ok {
		return 0, false, nil
	}
	f, err := v.number.Float64()
	if err != nil || f != float64(int(f)) || f < 0 || f > maxNodes {
		return 0, false, &SchemaError{pointer + "/" + key, fmt.Sprintf("it must be an integer from 0 to %d", maxNodes)}
	}
	return int(f), true, nil
}

// text adds strings.
func (c *compiler) text(o *object, pointer string, next int32) (int32, error) {
	p, hasPattern := o.find("pattern")
	f, hasFormat := o.find("format")
	switch {
	case hasPattern && hasFormat:
		return 0, &SchemaError{pointer + "/format", `"format" cannot stand beside "pattern"`}
	case hasPattern:
		if p.text == nil {
			return 0, &SchemaError{pointer + "/pattern", "it must be a string"}
		}
		return c.share("pattern "+*p.text, c.below(pointer, "pattern"), next, func(next int32) int32 {
			return c.g.literal(`"`, c.g.pattern(*p.text, c.g.literal(`"`, next)))
		})
	case hasFormat:
		if f.text == nil || formats[*f.text] == "" {
			return 0, &SchemaError{pointer + "/format", fmt.Sprintf("the format is not supported, want one of %s", formatNames())}
		}
		return c.share("format "+*f.text, c.below(pointer, "format"), next, func(next int32) int32 {
			return c.g.literal(`"`, c.g.charsOf(formats[*f.text], c.g.literal(`"`, next)))
		})
	}
	return c.g.call(ruleString, next), nil
}

// share adds what build adds, in a rule for all uses of the same key.
func (c *compiler) share(key, pointer string, next int32, build func(next int32) int32) (int32, error) {
	if !c.g.spend(keyWork + len(key)/4) {
		return 0, c.fail(pointer)
	}
	r, ok := c.shared[key]
	if !ok {
		r = c.newRule(pointer)
		c.g.take(ruleMemory + len(key))
		c.shared[key] = r
		c.g.build(r, build)
		if c.g.err != nil {
			return 0, c.fail(pointer)
		}
	}
	return c.g.call(r, next), nil
}

// number adds numbers.
func (c *compiler) number(o *object, kind, pointer string, next int32) (int32, error) {
	in := interval{fraction: maxFraction}
	if kind == "integer" {
		in.fraction = 0
	}
	limited := false
	for _, key := range ofNumbers {
		v, ok := o.find(key)
		if !ok {
			continue
		}
		limited = true
		c.g.spend(numberWork)
		n, err := parseNumber(v.number)
		if err != nil || v.number == "" {
			return 0, &SchemaError{pointer + "/" + key, "it must be a number of at most 18 digits"}
		}
		if !in.limit(key, n) {
			return 0, &SchemaError{pointer + "/" + key, "only 1, 0.1, 0.01 and further powers of ten are supported"}
		}
	}
	switch {
	case limited:
		return c.share(in.key(), pointer, next, func(next int32) int32 { return c.g.numbers(in, next) })
	case kind == "integer":
		return c.g.call(ruleInteger, next), nil
	}
	return c.g.call(ruleNumber, next), nil
}

// limit narrows the interval by a keyword. It reports whether it can.
func (in *interval) limit(key string, n *big.Rat) bool {
	b := &bound{value: n, open: strings.HasPrefix(key, "exclusive")}
	switch key {
	case "minimum", "exclusiveMinimum":
		if in.lo == nil || in.lo.value.Cmp(n) < 0 || in.lo.value.Cmp(n) == 0 && b.open {
			in.lo = b
		}
	case "maximum", "exclusiveMaximum":
		if in.hi == nil || in.hi.value.Cmp(n) > 0 || in.hi.value.Cmp(n) == 0 && b.open {
			in.hi = b
		}
	default:
		step := big.NewRat(1, 1)
		for places := 0; places <= maxFraction; places++ {
			if step.Cmp(n) == 0 {
				in.fraction = min(in.fraction, places)
				return true
			}
			step.Mul(step, big.NewRat(1, 10))
		}
		return false
	}
	return true
}

// key tells intervals apart.
func (in interval) key() string {
	text := func(b *bound) string {
		if b == nil {
			return ""
		}
		return fmt.Sprint(b.value.RatString(), b.open)
	}
	return fmt.Sprintf("interval %s to %s, %d", text(in.lo), text(in.hi), in.fraction)
}

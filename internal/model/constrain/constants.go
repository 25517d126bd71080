package constrain

import (
	"encoding/json"
	"fmt"
	"slices"
)

// constants adds the values of enum or const that have a type of the schema.
func (c *compiler) constants(o *object, pointer string, next int32) (int32, error) {
	keyword := "enum"
	list := o.get("enum").array
	if !o.has("enum") {
		keyword = "const"
		list = []value{o.get("const")}
	}
	if err := c.only(o, pointer, keyword, "type"); err != nil {
		return 0, err
	}
	if len(list) == 0 {
		return 0, &SchemaError{pointer + "/enum", "it must be an array that is not empty"}
	}
	types := jsonTypes
	if o.has("type") {
		var err error
		if types, err = c.typesOf(o, pointer); err != nil {
			return 0, err
		}
	}
	var starts []int32
	for _, v := range list {
		work := keyWork
		if v.number != "" {
			work = numberWork
		}
		if !c.g.spend(work) {
			return 0, c.fail(pointer + "/" + keyword)
		}
		if v.isOf(types) {
			starts = append(starts, c.constant(v, next))
		}
	}
	if len(starts) == 0 {
		return 0, &SchemaError{pointer + "/" + keyword, "no value has the type of the schema"}
	}
	if c.g.err != nil {
		return 0, c.fail(pointer + "/" + keyword)
	}
	return c.g.either(starts), nil
}

// numberWork is the work to parse a number.
const numberWork = 200

func (v value) isOf(types []string) bool {
	kind := v.kind()
	if kind == "number" && slices.Contains(types, "integer") && !slices.Contains(types, "number") {
		n, err := parseNumber(v.number)
		return err == nil && n.IsInt()
	}
	return slices.Contains(types, kind)
}

// constant adds one value, with the usual white space.
func (c *compiler) constant(v value, next int32) int32 {
	g := c.g
	if !g.spend(nodeWork) {
		return 0
	}
	switch {
	case v.object != nil && len(v.object.keys) > 0:
		next = g.call(ruleSpace, g.literal("}", next))
		for i := len(v.object.keys) - 1; i >= 0; i-- {
			key := v.object.keys[i]
			next = g.literal(quote(key)+":", g.optionalBlank(c.constant(v.object.values[i], next)))
			if next = g.call(ruleSpace, next); i > 0 {
				next = g.literal(",", next)
			}
		}
		return g.literal("{", next)
	case len(v.array) > 0:
		next = g.call(ruleSpace, g.literal("]", next))
		for i := len(v.array) - 1; i >= 0; i-- {
			if next = g.call(ruleSpace, c.constant(v.array[i], next)); i > 0 {
				next = g.literal(",", next)
			}
		}
		return g.literal("[", next)
	}
	return g.literal(v.plain(), next)
}

// plain returns the JSON of a value without elements.
func (v value) plain() string {
	switch v.kind() {
	case "object":
		return "{}"
	case "array":
		return "[]"
	case "string":
		return quote(*v.text)
	case "number":
		return string(v.number)
	case "boolean":
		return fmt.Sprint(*v.boolean)
	}
	return "null"
}

func formatNames() string {
	names := make([]string, 0, len(formats))
	for name := range formats {
		names = append(names, name)
	}
	slices.Sort(names)
	text, _ := json.Marshal(names) // strings always encode
	return string(text)
}

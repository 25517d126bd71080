package constrain

// maxUnion limits the alternatives of a union: each may be a way to continue, which every
// mask has to follow.
const maxUnion = 256

// alternatives returns the schemas of a union that are no unions themselves, up to one more
// than maxUnion.
func (c *compiler) alternatives(v *value) []*value {
	o := v.object
	switch {
	case o == nil || !c.g.spend(keyWork):
		return []*value{v}
	case o.counted: // or being counted: it refers to itself, which is refused later
		return o.alternatives
	}
	o.counted = true
	switch {
	case o.has("$ref"):
		if target, ok := c.target(o); ok {
			o.alternatives = c.alternatives(&target)
		}
	case o.has("anyOf") && !o.has("enum") && !o.has("const"):
		o.alternatives = c.together(o.get("anyOf").array)
	default:
		o.alternatives = []*value{v}
	}
	return o.alternatives
}

// together returns the alternatives of several schemas.
func (c *compiler) together(schemas []value) []*value {
	var all []*value
	seen := map[*value]bool{}
	for i := range schemas {
		for _, v := range c.alternatives(&schemas[i]) {
			if !c.g.spend(keyWork) || len(all) > maxUnion {
				return all
			}
			if !seen[v] {
				seen[v] = true
				all = append(all, v)
			}
		}
	}
	c.g.take(16 * len(all))
	return all
}

// target returns the schema that $ref of a schema names.
func (c *compiler) target(o *object) (value, bool) {
	ref := o.get("$ref")
	if ref.text == nil {
		return value{}, false
	}
	pointer, local := localPointer(*ref.text)
	if !local || !c.g.spend(8*len(pointer)) {
		return value{}, false
	}
	return c.root.find(pointer)
}

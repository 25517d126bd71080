package constrain

// The rules that each grammar begins with, at the same nodes: what they allow of a
// vocabulary is computed once for all grammars.
const (
	ruleSpace   int32 = iota // between parts of an object or array
	ruleString               // any string
	ruleNumber               // any number
	ruleInteger              // any integer
	ruleValue                // any value
	ruleObject               // any object
	ruleArray                // any array
	builtinRules
)

// Expressions of the built-in rules. White space, digits and exponents have
// limits: models would go on without end, and clients read numbers as int64 or
// float64.
const (
	spaceBytes   = "| |\n {0,32}|\n\t{1,8}"
	stringBytes  = `"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u(?:[0-9A-CE-Fa-ce-f][0-9A-Fa-f]{3}|[Dd][0-7][0-9A-Fa-f]{2}|[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2})))*"`
	integerBytes = `-?(?:0|[1-9][0-9]{0,17})`
	numberBytes  = integerBytes + `(?:\.[0-9]{1,17})?(?:[Ee][+-]?[0-9]{1,2})?`
)

// newGraph returns a graph with the built-in rules.
func newGraph(b *budget) *graph {
	g := &graph{budget: b}
	for _, name := range []string{"space", "string", "number", "integer", "value", "object", "array"} {
		g.newRule(name)
	}
	simple := func(r int32, expression string) { g.rules[r].start = g.bytesOf(expression, g.end()) }
	simple(ruleSpace, spaceBytes)
	simple(ruleString, stringBytes)
	simple(ruleNumber, numberBytes)
	simple(ruleInteger, integerBytes)
	end := g.end()
	g.rules[ruleValue].start = g.either([]int32{
		g.call(ruleString, end), g.call(ruleNumber, end), g.call(ruleObject, end), g.call(ruleArray, end),
		g.literal("true", end), g.literal("false", end), g.literal("null", end),
	})
	g.rules[ruleObject].start = g.members(func(next int32) int32 { return g.call(ruleValue, next) }, g.end())
	g.rules[ruleArray].start = g.elements(func(next int32) int32 { return g.call(ruleValue, next) }, g.end())
	return g
}

// members is an object with any keys, whose values value adds.
func (g *graph) members(value func(next int32) int32, next int32) int32 {
	more := g.split(0, 0)
	member := g.call(ruleString, g.literal(":", g.optionalBlank(value(more))))
	g.nodes[more].next = g.literal(",", g.call(ruleSpace, member))
	g.nodes[more].other = g.call(ruleSpace, g.literal("}", next))
	return g.literal("{", g.split(g.call(ruleSpace, member), g.literal("}", next)))
}

// elements is an array of any length, whose elements value adds.
func (g *graph) elements(value func(next int32) int32, next int32) int32 {
	more := g.split(0, 0)
	element := value(more)
	g.nodes[more].next = g.literal(",", g.call(ruleSpace, element))
	g.nodes[more].other = g.call(ruleSpace, g.literal("]", next))
	return g.literal("[", g.split(g.call(ruleSpace, element), g.literal("]", next)))
}

func (g *graph) optionalBlank(next int32) int32 {
	return g.split(next, g.bytes(' ', ' ', next))
}

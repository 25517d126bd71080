package constrain

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A Grammar is a set of texts. It is safe for concurrent use. Answers with the same
// Grammar share what they find out about a vocabulary.
type Grammar struct {
	nodes  []node
	rules  []rule
	root   int32
	blocks int32 // number of characters of patterns
	// class maps bytes that no node tells apart to the same number, below classes.
	class   [256]uint8
	classes int
	samples [][]byte // of each kind of bytes: one of each class
	own     *locals  // of nodes that other grammars do not have

	thoughts afterThoughts
}

// Object returns the grammar of all JSON objects.
func Object() *Grammar {
	gr, err := newGraph(newBudget(nil)).grammar(ruleObject)
	if err != nil {
		panic(err) // the built-in rules are constant
	}
	return gr
}

// Schema returns the grammar of the values that a JSON Schema allows, in the
// subset that OpenAI documents for strict schemas. Beyond it, properties can be
// optional, and a schema for further properties works if there are no named ones.
// The error is a *SchemaError.
//
// Time and memory are limited: by the size of the schema, its nesting, the width of its
// unions, 100,000 states, and a budget. If ctx ends, so does the compilation, with an error
// that is context.Canceled.
func Schema(ctx context.Context, schema []byte) (*Grammar, error) {
	return schemaWithin(newBudget(ctx.Done()), schema)
}

func schemaWithin(b *budget, schema []byte) (*Grammar, error) {
	g := newGraph(b)
	root, err := compileSchema(g, "", schema)
	if err != nil {
		return nil, err
	}
	gr, err := g.grammar(root)
	switch {
	case errors.Is(err, errGone):
		return nil, err
	case err != nil:
		return nil, &SchemaError{"", err.Error()}
	}
	return gr, nil
}

// A Call is one way to call a tool: literal text around the arguments.
type Call struct {
	Name   string // of the tool, for errors
	Begin  string // such as `<tool_call>\n{"name": "f", "arguments": `
	Schema []byte // of the arguments; empty: they are {}
	End    string // such as "}\n</tool_call>"
}

// Calls returns the grammar of one or more calls, at most most, between a prefix
// and a suffix, with a separator between two calls. Control tokens may write the
// literal texts, but not the arguments. An error in a schema is a *SchemaError
// that names the tool.
func Calls(ctx context.Context, prefix string, calls []Call, separator, suffix string, most int) (*Grammar, error) {
	if len(calls) == 0 || most < 1 {
		return nil, fmt.Errorf("cannot force a call: there is no tool to call")
	}
	g := newGraph(newBudget(ctx.Done()))
	one := g.newRule("call")
	end := g.end()
	var starts []int32
	for _, c := range calls {
		next := g.frame(c.End, end)
		if len(c.Schema) == 0 {
			next = g.literal("{}", next)
		} else {
			arguments, err := compileSchema(g, fmt.Sprintf(" of tool %q", c.Name), c.Schema)
			if err != nil {
				return nil, fmt.Errorf("the parameters of tool %q: %w", c.Name, err)
			}
			next = g.call(arguments, next)
		}
		starts = append(starts, g.frame(c.Begin, next))
	}
	g.rules[one].start = g.either(starts)
	root := g.newRule("calls")
	last := g.frame(suffix, g.end())
	next := last
	for range min(most, maxCalls) - 1 {
		next = g.split(last, g.frame(separator, g.call(one, next)))
	}
	g.rules[root].start = g.frame(prefix, g.call(one, next))
	gr, err := g.grammar(root)
	if err != nil {
		return nil, fmt.Errorf("cannot force a call: %w", err)
	}
	return gr, nil
}

// maxCalls limits the calls of one answer.
const maxCalls = 32

// grammar checks the graph and returns it as a grammar.
func (g *graph) grammar(root int32) (*Grammar, error) {
	if g.err != nil {
		return nil, g.err
	}
	if err := g.prune(root); err != nil {
		return nil, err
	}
	if err := g.checkCycles(); err != nil {
		return nil, err
	}
	gr := &Grammar{nodes: slices.Clip(g.nodes), rules: g.rules, root: root, blocks: g.blocks, own: &locals{most: maxOwn}}
	gr.classify()
	return gr, nil
}

// part names the part of the form where an answer stands: the innermost one that the
// client wrote.
func (gr *Grammar) part(s *state) string {
	if s == nil || len(s.threads) == 0 {
		return "the form"
	}
	at, calls := s.threads[0].node, s.threads[0].calls
	for {
		if r, ok := gr.ruleOf(at); ok {
			return "the schema at " + r.name
		}
		if len(calls.frames) == 0 {
			return "the form"
		}
		at, calls = calls.frames[0].next, calls.frames[0].below
	}
}

// ruleOf returns the smallest rule that has a node, unless it is built in.
func (gr *Grammar) ruleOf(at int32) (found rule, ok bool) {
	for _, r := range gr.rules[builtinRules:] {
		if r.from <= at && at < r.to && (!ok || r.to-r.from < found.to-found.from) {
			found, ok = r, true
		}
	}
	return found, ok
}

// classify numbers the classes of bytes, and takes samples of them.
func (gr *Grammar) classify() {
	var begins [257]bool
	for _, n := range gr.nodes {
		if n.kind == nodeBytes {
			begins[n.lo], begins[int(n.hi)+1] = true, true
		}
	}
	class := 0
	for b := range 256 {
		if begins[b] && b > 0 {
			class++
		}
		gr.class[b] = uint8(class)
	}
	gr.classes = class + 1
	gr.samples = make([][]byte, kinds)
	seen := map[[2]uint8]bool{}
	for b, kind := range kindOf {
		if pair := [2]uint8{kind, gr.class[b]}; !seen[pair] {
			seen[pair] = true
			gr.samples[kind] = append(gr.samples[kind], byte(b))
		}
	}
}

package constrain

import (
	"context"
	"slices"
)

// Either returns the grammar of the texts that one of two grammars allows. The
// error is that of a grammar with too many states.
func Either(ctx context.Context, a, b *Grammar) (*Grammar, error) {
	g := newGraph(newBudget(ctx.Done()))
	builtin := int32(len(g.nodes))
	g.nodes, g.rules, g.blocks = slices.Clone(a.nodes), slices.Clone(a.rules), a.blocks+b.blocks
	// Nodes and rules that both have keep their numbers.
	movedNode, movedRule := int32(len(a.nodes))-builtin, int32(len(a.rules))-builtinRules
	node := func(at int32) int32 {
		if at < builtin {
			return at
		}
		return at + movedNode
	}
	block := func(k int32) int32 {
		if k == 0 {
			return 0
		}
		return k + a.blocks
	}
	rule := func(r int32) int32 {
		if r < builtinRules {
			return r
		}
		return r + movedRule
	}
	for _, n := range b.nodes[builtin:] {
		n.next = node(n.next)
		switch n.kind {
		case nodeCall:
			n.other = rule(n.other)
		case nodeSplit:
			n.other = node(n.other)
		case nodeBytes:
			n.other = block(n.other)
		case nodeEnd:
		}
		g.add(n)
	}
	for _, r := range b.rules[builtinRules:] {
		r.start, r.from, r.to = node(r.start), r.from+movedNode, r.to+movedNode
		g.rules = append(g.rules, r)
	}
	root, end := g.newRule("either"), g.end()
	g.rules[root].start = g.split(g.call(a.root, end), g.call(rule(b.root), end))
	return g.grammar(root)
}

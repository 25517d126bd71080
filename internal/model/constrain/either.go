package constrain

import "slices"

// Either returns the grammar of the texts that one of two grammars allows. The
// error is that of a grammar with too many states.
func Either(a, b *Grammar) (*Grammar, error) {
	g := newGraph()
	builtin := int32(len(g.nodes))
	g.nodes, g.rules, g.blocks = slices.Clone(a.nodes), slices.Clone(a.rules), slices.Clone(a.blocks)
	// Nodes and rules that both have keep their numbers.
	movedNode, movedRule := int32(len(a.nodes))-builtin, int32(len(a.rules))-builtinRules
	node := func(at int32) int32 {
		if at < builtin {
			return at
		}
		return at + movedNode
	}
	movedBlock, movedLetters := int32(len(a.blocks))-1, int32(0)
	for _, k := range a.blocks {
		movedLetters = max(movedLetters, k.letters+1)
	}
	block := func(k int32) int32 {
		if k == 0 {
			return 0
		}
		return k + movedBlock
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
	for _, k := range b.blocks[1:] {
		k.first, k.entry, k.next, k.letters = node(k.first), node(k.entry), node(k.next), k.letters+movedLetters
		g.blocks = append(g.blocks, k)
	}
	for _, r := range b.rules[builtinRules:] {
		r.start = node(r.start)
		g.rules = append(g.rules, r)
	}
	root, end := g.newRule("either"), g.end()
	g.rules[root].start = g.split(g.call(a.root, end), g.call(rule(b.root), end))
	return g.grammar(root)
}

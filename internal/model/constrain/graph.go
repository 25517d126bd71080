package constrain

import (
	"fmt"
	"slices"
)

// A node is a state of the automaton of a grammar.
type node struct {
	kind   nodeKind
	lo, hi byte  // of nodeBytes
	frame  bool  // of nodeBytes: control tokens may write it
	next   int32 // for nodeCall: after the rule
	other  int32 // nodeSplit: the other way; nodeCall: the rule; nodeBytes: the block
	live   bool  // the end of the rule can be reached
}

type nodeKind uint8

const (
	nodeEnd   nodeKind = iota // the rule ends
	nodeBytes                 // a byte from lo to hi, then next
	nodeSplit                 // next or other
	nodeCall                  // what a rule allows, then next
)

// A rule is a part of a grammar that others call.
type rule struct {
	name     string // for errors: a JSON pointer or a word
	start    int32
	from, to int32 // its nodes, with those of rules that only it has
}

// A graph is the automaton of a grammar while it is built: from the end to the
// start, so that each constructor gets the node that follows and returns the
// first node.
type graph struct {
	budget   *budget
	nodes    []node
	rules    []rule
	blocks   int32 // number of characters of patterns
	patterns int   // bytes of the patterns so far
	err      error // the first
}

// maxNodes limits the memory of a grammar: 100,000 nodes take 1.6 MB.
const maxNodes = 100_000

func (g *graph) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

// spend takes work of the budget. It reports whether there is no error so far: all loops
// end with the first one.
func (g *graph) spend(work int) bool {
	if !g.budget.spend(work) {
		g.fail(g.budget.exceeded())
	}
	return g.err == nil
}

// take takes bytes of the budget. It reports whether there is no error so far.
func (g *graph) take(bytes int) bool {
	if !g.budget.take(bytes) {
		g.fail(g.budget.exceeded())
	}
	return g.err == nil
}

func (g *graph) add(n node) int32 {
	if !g.spend(nodeWork) || !g.take(nodeMemory) {
		return 0
	}
	if len(g.nodes) >= maxNodes {
		g.fail(fmt.Errorf("it needs more than %d states", maxNodes))
		return 0
	}
	if len(g.nodes) == cap(g.nodes) { // large slices would grow by a quarter
		g.nodes = slices.Grow(g.nodes, len(g.nodes)+1)
	}
	g.nodes = append(g.nodes, n)
	return int32(len(g.nodes) - 1)
}

func (g *graph) end() int32 { return g.add(node{kind: nodeEnd}) }

func (g *graph) bytes(lo, hi byte, next int32) int32 {
	return g.add(node{kind: nodeBytes, lo: lo, hi: hi, next: next})
}

func (g *graph) split(next, other int32) int32 {
	return g.add(node{kind: nodeSplit, next: next, other: other})
}

// nothing is a node that allows no text: it leads to itself.
func (g *graph) nothing() int32 {
	at := g.split(0, 0)
	g.nodes[at].next, g.nodes[at].other = at, at
	return at
}

// build sets the start of a rule.
func (g *graph) build(r int32, start func(end int32) int32) {
	g.rules[r].from = int32(len(g.nodes))
	at := start(g.end())
	g.rules[r].start, g.rules[r].to = at, int32(len(g.nodes))
}

// either splits to all of the starts, of which there is at least one.
func (g *graph) either(starts []int32) int32 {
	at := starts[len(starts)-1]
	for i := len(starts) - 2; i >= 0; i-- {
		at = g.split(starts[i], at)
	}
	return at
}

func (g *graph) call(rule, next int32) int32 {
	return g.add(node{kind: nodeCall, next: next, other: rule})
}

func (g *graph) literal(s string, next int32) int32 {
	for i := len(s) - 1; i >= 0; i-- {
		next = g.bytes(s[i], s[i], next)
	}
	return next
}

// frame is a literal that control tokens may write.
func (g *graph) frame(s string, next int32) int32 {
	from := len(g.nodes)
	start := g.literal(s, next)
	for i := from; i < len(g.nodes); i++ {
		g.nodes[i].frame = true
	}
	return start
}

// newRule reserves a rule, so that others can call it before it is built.
func (g *graph) newRule(name string) int32 {
	g.take(ruleMemory + len(name))
	g.rules = append(g.rules, rule{name: name, start: -1})
	return int32(len(g.rules) - 1)
}

package constrain

import (
	"slices"
	"sync"
)

// thoughtsEnd is what models write after their thoughts.
const thoughtsEnd = "</think>"

// afterThoughts makes, once, the grammar that AfterThoughts returns.
type afterThoughts struct {
	mu      sync.Mutex
	grammar *Grammar
	err     error
}

// AfterThoughts returns the grammar of answers that go on with thoughts: any text up
// to the first </think>, up to two line ends, and a text of the grammar. The error
// is that of a grammar with too many states.
func (gr *Grammar) AfterThoughts() (*Grammar, error) {
	t := &gr.thoughts
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.grammar == nil && t.err == nil {
		g := &graph{budget: newBudget(nil), nodes: slices.Clone(gr.nodes), rules: slices.Clone(gr.rules), blocks: gr.blocks}
		root := g.newRule("thoughts")
		answer := g.call(gr.root, g.end())
		g.rules[root].start = g.upTo(thoughtsEnd, g.split(answer, g.literal("\n", g.split(answer, g.literal("\n", answer)))))
		if t.grammar, t.err = g.grammar(root); t.err == nil {
			t.grammar.own = gr.own // its nodes are the same
		}
	}
	return t.grammar, t.err
}

// upTo adds any bytes up to the first occurrence of a mark, which control tokens may
// write.
func (g *graph) upTo(mark string, next int32) int32 {
	places := make([]int32, len(mark)+1) // after so many bytes of the mark
	for i := range mark {
		places[i] = g.nothing()
	}
	places[len(mark)] = next
	after := func(i, b int) int { return overlap(mark, mark[:i]+string([]byte{byte(b)})) }
	for i := range mark {
		ways := []int32{g.frame(mark[i:i+1], places[i+1])}
		for lo := 0; lo < 256; {
			hi := lo
			for hi < 255 && after(i, hi+1) == after(i, lo) {
				hi++
			}
			if n := after(i, lo); n <= i { // else it is the way that goes on
				ways = append(ways, g.bytes(byte(lo), byte(hi), places[n]))
			}
			lo = hi + 1
		}
		at := g.either(ways)
		g.nodes[places[i]].next, g.nodes[places[i]].other = at, at
	}
	return places[0]
}

// overlap returns how many bytes at the end of a text begin the mark.
func overlap(mark, text string) int {
	for n := min(len(mark), len(text)); n > 0; n-- {
		if mark[:n] == text[len(text)-n:] {
			return n
		}
	}
	return 0
}

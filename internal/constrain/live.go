package constrain

import "fmt"

// prune marks the nodes from which the end of their rule can be reached. It fails
// if the first rule allows nothing.
func (g *graph) prune(root int32) error {
	before := make([][]int32, len(g.nodes)) // nodes to look at again
	starts := make([][]int32, len(g.nodes)) // calls of the rule that starts here
	var queue []int32
	for i, n := range g.nodes {
		switch n.kind {
		case nodeEnd:
			queue = append(queue, int32(i))
			continue
		case nodeSplit:
			before[n.other] = append(before[n.other], int32(i))
		case nodeCall:
			start := g.rules[n.other].start
			starts[start] = append(starts[start], int32(i))
		case nodeBytes:
		}
		before[n.next] = append(before[n.next], int32(i))
	}
	for _, i := range queue {
		g.nodes[i].live = true
	}
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, list := range [][]int32{before[at], starts[at]} {
			for _, i := range list {
				if n := &g.nodes[i]; !n.live && g.reaches(*n) {
					n.live = true
					queue = append(queue, i)
				}
			}
		}
	}
	if !g.nodes[g.rules[root].start].live {
		return fmt.Errorf("no value of finite length fulfils it")
	}
	return nil
}

// reaches reports whether a node leads to the end of its rule, as far as is known.
func (g *graph) reaches(n node) bool {
	switch n.kind {
	case nodeSplit:
		return g.nodes[n.next].live || g.nodes[n.other].live
	case nodeCall:
		return g.nodes[n.next].live && g.nodes[g.rules[n.other].start].live
	case nodeBytes:
		return g.nodes[n.next].live
	case nodeEnd:
	}
	return true
}

// checkCycles refuses rules that can call themselves before the first byte: the
// stack would grow without end.
func (g *graph) checkCycles() error {
	empty := g.emptyRules()
	const (
		unseen = iota
		open
		done
	)
	state := make([]uint8, len(g.rules))
	var visit func(r int32) error
	visit = func(r int32) error {
		state[r] = open
		for _, called := range g.calledFirst(r, empty) {
			switch state[called] {
			case open:
				return fmt.Errorf("%s refers to itself without a value in between", g.rules[called].name)
			case unseen:
				if err := visit(called); err != nil {
					return err
				}
			}
		}
		state[r] = done
		return nil
	}
	for r := range g.rules {
		if state[r] == unseen {
			if err := visit(int32(r)); err != nil {
				return err
			}
		}
	}
	return nil
}

// calledFirst returns the rules that a rule can call before the first byte.
func (g *graph) calledFirst(r int32, empty []bool) []int32 {
	var called []int32
	g.walkEmpty(r, empty, func(n node) {
		if n.kind == nodeCall {
			called = append(called, n.other)
		}
	})
	return called
}

// emptyRules tells for each rule whether it allows the empty text.
func (g *graph) emptyRules() []bool {
	empty := make([]bool, len(g.rules))
	for changed := true; changed; {
		changed = false
		for r := range g.rules {
			if empty[r] {
				continue
			}
			g.walkEmpty(int32(r), empty, func(n node) {
				if n.kind == nodeEnd {
					empty[r], changed = true, true
				}
			})
		}
	}
	return empty
}

// walkEmpty visits the nodes of a rule that come before its first byte.
func (g *graph) walkEmpty(r int32, empty []bool, visit func(node)) {
	seen := map[int32]bool{}
	queue := []int32{g.rules[r].start}
	for len(queue) > 0 {
		i := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		n := g.nodes[i]
		if seen[i] || !n.live {
			continue
		}
		seen[i] = true
		visit(n)
		switch n.kind {
		case nodeSplit:
			queue = append(queue, n.next, n.other)
		case nodeCall:
			if empty[n.other] {
				queue = append(queue, n.next)
			}
		case nodeBytes, nodeEnd:
		}
	}
}

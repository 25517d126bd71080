package constrain

import "fmt"

// prune marks the nodes from which the end of their rule can be reached. It fails
// if the first rule allows nothing.
func (g *graph) prune(root int32) error {
	if !g.spend(4 * len(g.nodes)) {
		return g.err
	}
	places, before := g.before()
	var queue []int32
	for i := range g.nodes {
		if g.nodes[i].kind == nodeEnd {
			g.nodes[i].live = true
			queue = append(queue, int32(i))
		}
	}
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, i := range before[places[at]:places[at+1]] {
			if n := &g.nodes[i]; !n.live && g.reaches(*n) {
				n.live = true
				queue = append(queue, i)
			}
		}
	}
	if !g.nodes[g.rules[root].start].live {
		return fmt.Errorf("no value of finite length fulfils it")
	}
	return nil
}

// before returns the nodes that lead to each node: those of node i are in a list from
// places[i] to places[i+1]. Calls lead to the start of their rule too.
func (g *graph) before() (places, list []int32) {
	places = make([]int32, len(g.nodes)+2)
	each := func(visit func(from, to int32)) {
		for i, n := range g.nodes {
			switch n.kind {
			case nodeEnd:
				continue
			case nodeSplit:
				visit(int32(i), n.other)
			case nodeCall:
				visit(int32(i), g.rules[n.other].start)
			case nodeBytes:
			}
			visit(int32(i), n.next)
		}
	}
	// At first, places has how many there are, and then where the next one goes.
	each(func(_, to int32) { places[to+2]++ })
	for i := 2; i < len(places); i++ {
		places[i] += places[i-1]
	}
	list = make([]int32, places[len(places)-1])
	each(func(from, to int32) {
		list[places[to+1]] = from
		places[to+1]++
	})
	return places, list
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
	first := firstNodes{graph: g, seen: make([]int32, len(g.nodes))}
	empty := first.emptyRules()
	const (
		unseen = iota
		open
		done
	)
	state := make([]uint8, len(g.rules))
	var visit func(r int32) error
	visit = func(r int32) error {
		state[r] = open
		for _, called := range first.calledFirst(r, empty) {
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
	return g.err
}

// firstNodes finds the nodes of a rule that come before its first byte.
type firstNodes struct {
	*graph
	seen   []int32 // by node: the latest search
	search int32
}

// calledFirst returns the rules that a rule can call before the first byte.
func (f *firstNodes) calledFirst(r int32, empty []bool) []int32 {
	var called []int32
	f.walk(r, empty, func(n node) {
		if n.kind == nodeCall {
			called = append(called, n.other)
		}
	})
	return called
}

// emptyRules tells for each rule whether it allows the empty text.
func (f *firstNodes) emptyRules() []bool {
	empty := make([]bool, len(f.rules))
	for changed := true; changed && f.err == nil; {
		changed = false
		for r := range f.rules {
			if empty[r] {
				continue
			}
			f.walk(int32(r), empty, func(n node) {
				if n.kind == nodeEnd {
					empty[r], changed = true, true
				}
			})
		}
	}
	return empty
}

// walk visits the nodes of a rule that come before its first byte.
func (f *firstNodes) walk(r int32, empty []bool, visit func(node)) {
	f.search++
	queue := []int32{f.rules[r].start}
	for len(queue) > 0 && f.spend(nodeWork) {
		i := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		n := f.nodes[i]
		if f.seen[i] == f.search || !n.live {
			continue
		}
		f.seen[i] = f.search
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

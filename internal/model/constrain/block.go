package constrain

// block returns the number of the character of a pattern to which a node belongs that
// awaits a byte, or 0. A repetition with limits has a block for each of its positions.
func (n node) block() int32 {
	if n.kind != nodeBytes {
		return 0
	}
	return n.other
}

// inBlock makes a block of the nodes that build adds for one of some characters.
func (g *graph) inBlock(build func() int32) int32 {
	first := len(g.nodes)
	entry := build()
	g.blocks++
	for i := range g.nodes[first:] {
		if n := &g.nodes[first+i]; n.kind == nodeBytes {
			n.other = g.blocks
		}
	}
	return entry
}

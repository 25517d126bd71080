package constrain

import "encoding/binary"

// A block is the nodes of one character of a pattern. A repetition with limits has a
// block for each of its positions; in most of them, the same short tokens may follow.
type block struct {
	first   int32 // node
	entry   int32 // node where the character begins
	next    int32 // node after the character
	letters int32 // number of the set of characters
	// like has, for each band but the last, the first node of the first block that
	// allows the same tokens of the band.
	like [bands - 1]int32
}

// block returns the block of a node that awaits a byte, or 0.
func (n node) block() int32 {
	if n.kind != nodeBytes {
		return 0
	}
	return n.other
}

// inBlock makes a block of the nodes that build adds for one of the characters.
func (g *graph) inBlock(letters []runeRange, next int32, build func() int32) int32 {
	first := int32(len(g.nodes))
	entry := build()
	at := int32(len(g.blocks))
	for i := range g.nodes[first:] {
		if n := &g.nodes[int(first)+i]; n.kind == nodeBytes {
			n.other = at
		}
	}
	var key []byte
	for _, r := range letters {
		key = binary.LittleEndian.AppendUint32(key, uint32(r.lo))
		key = binary.LittleEndian.AppendUint32(key, uint32(r.hi))
	}
	number, ok := g.letters[string(key)]
	if !ok {
		number = int32(len(g.letters))
		g.letters[string(key)] = number
	}
	g.blocks = append(g.blocks, block{first: first, entry: entry, next: next, letters: number})
	return entry
}

// alike returns the node that stands, in a band, for all nodes that allow the same
// tokens: in a block of the same characters at the same place.
func (gr *Grammar) alike(at int32, band int) int32 {
	n := gr.nodes[at].block()
	if n == 0 || band == bands-1 {
		return at
	}
	b := gr.blocks[n]
	return at - b.first + b.like[band]
}

package constrain

import "encoding/binary"

// A comparison tells which blocks allow the same tokens of limited length. Texts of n
// bytes tell places apart that differ in the blocks that begin there, or by whose next
// places texts of n-1 bytes tell apart: each character has at least one byte.
type comparison struct {
	g      *graph
	blocks []int32   // by node: the live block that begins there, or 0
	places []int32   // nodes after live blocks
	number []int32   // of the places after blocks
	follow [][]int32 // by place: the blocks that begin there, and other nodes as ^node
	class  []int32   // of places: the same if texts do not tell them apart
	sizes  []int32   // of classes

	known map[string]int32 // classes by what follows
	key   []byte
	seen  []int32 // by node: the latest search, from 1
	work  int     // nodes that it may still visit
}

// workOfNode is how many nodes a comparison may visit for each node of the graph. Most
// patterns need 2; with many optional characters in turn, the rest of their places is
// compared with none.
const workOfNode = 16

// compareBlocks sets like of all blocks, and returns them. It needs to know which nodes
// are live.
func (g *graph) compareBlocks() []block {
	if len(g.blocks) == 1 {
		return g.blocks
	}
	c := comparison{
		g: g, blocks: make([]int32, len(g.nodes)), number: make([]int32, len(g.blocks)), seen: make([]int32, len(g.nodes)),
		known: map[string]int32{}, work: workOfNode * len(g.nodes),
	}
	numbers := map[int32]int32{}
	for i, b := range g.blocks[1:] {
		if !g.nodes[b.entry].live {
			continue
		}
		c.blocks[b.entry] = int32(i + 1)
		number, ok := numbers[b.next]
		if !ok {
			number = int32(len(c.places))
			numbers[b.next] = number
			c.places = append(c.places, b.next)
		}
		c.number[i+1] = number
	}
	for i, at := range c.places {
		c.follow = append(c.follow, c.from(at, int32(i+1)))
	}
	c.class, c.sizes = make([]int32, len(c.places)), []int32{int32(len(c.places))}
	length := 0
	for band, most := range longest {
		for ; length < most-1 && c.refine(); length++ {
		}
		c.mark(band)
	}
	return g.blocks
}

// from returns what follows a place before the next byte.
func (c *comparison) from(place, search int32) []int32 {
	var out []int32
	queue := []int32{place}
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		n := c.g.nodes[at]
		if c.seen[at] == search || !n.live {
			continue
		}
		c.seen[at] = search
		if c.work--; c.work < 0 {
			return []int32{^place} // like no other
		}
		switch {
		case c.blocks[at] != 0:
			out = append(out, c.blocks[at])
		case n.kind == nodeSplit:
			queue = append(queue, n.next, n.other)
		default:
			out = append(out, ^at)
		}
	}
	return out
}

// refine tells places apart by texts that are one byte longer. It reports whether
// longer ones may tell more.
func (c *comparison) refine() bool {
	clear(c.known)
	next := make([]int32, len(c.places))
	var sizes []int32
	for i, follow := range c.follow {
		if c.sizes[c.class[i]] == 1 { // it stays alone
			next[i] = int32(len(sizes))
			sizes = append(sizes, 1)
			continue
		}
		c.key = c.key[:0]
		for _, f := range follow {
			if f < 0 {
				c.key = append(c.key, 0)
				c.key = binary.LittleEndian.AppendUint32(c.key, uint32(f))
				continue
			}
			c.key = append(c.key, 1)
			c.add(f)
		}
		class, ok := c.known[string(c.key)]
		if !ok {
			class = int32(len(sizes))
			c.known[string(c.key)] = class
			sizes = append(sizes, 0)
		}
		next[i] = class
		sizes[class]++
	}
	more := len(sizes) > len(c.sizes)
	c.class, c.sizes = next, sizes
	return more
}

// add adds to the key what tells a block apart.
func (c *comparison) add(block int32) {
	c.key = binary.LittleEndian.AppendUint32(c.key, uint32(c.g.blocks[block].letters))
	c.key = binary.LittleEndian.AppendUint32(c.key, uint32(c.class[c.number[block]]))
}

// mark sets like of all blocks for a band, by what texts tell apart so far.
func (c *comparison) mark(band int) {
	clear(c.known)
	for i := range c.g.blocks[1:] {
		b := &c.g.blocks[i+1]
		b.like[band] = b.first
		if !c.g.nodes[b.entry].live {
			continue
		}
		c.key = c.key[:0]
		c.add(int32(i + 1))
		if first, ok := c.known[string(c.key)]; ok {
			b.like[band] = first
			continue
		}
		c.known[string(c.key)] = b.first
	}
}

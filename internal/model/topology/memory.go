package topology

// batch is the number of prompt tokens distributed-llama evaluates at once,
// for which it allocates its buffers.
const batch = 32

// Memory is what one node allocates, in bytes. The sum is the number that
// distributed-llama prints as RequiredMemory. On top come, while loading, one
// buffer of the largest slice, and on the root the page cache of the model
// file.
type Memory struct {
	Pipes   int64 `json:"pipes"`   // buffers exchanged between nodes
	Buffers int64 `json:"buffers"` // everything between pipes, rope and attention tables
	KVCache int64 `json:"kvCache"` // f32: distributed-llama takes it for the whole context from the start
	Weights int64 `json:"weights"` // the node's slices
	// Forms is what the embedded engine needs for answers of given forms.
	Forms int64 `json:"forms,omitempty"`
}

// Total is the sum in bytes.
func (m Memory) Total() int64 { return m.Pipes + m.Buffers + m.KVCache + m.Weights + m.Forms }

// memory computes what node (0 is the root) of n allocates at a context of
// seq tokens, for so many slots.
func (s Shape) memory(node, n, seq, slots int, sync FloatType) Memory {
	c := calc{Shape: s, n: int64(n), node: int64(node), seq: int64(seq), cached: int64(CacheTokens(seq, slots)), sync: sync}
	return Memory{Pipes: c.pipes(), Buffers: c.buffers(), KVCache: c.cache(), Weights: c.weights()}
}

// A calc holds the terms of the memory formula.
type calc struct {
	Shape
	n, node, seq int64
	cached       int64 // positions
	sync         FloatType
}

func (c calc) pipes() int64 {
	dim, vocab := int64(c.Dim), int64(c.VocabSize)
	return 8*batch + 4*batch*dim + 4*batch*vocab + batch*c.sync.Bytes(dim*c.n)
}

func (c calc) buffers() int64 {
	dim, q, kv := int64(c.Dim), int64(c.QDim()), int64(c.KVDim())
	ff, vocab, heads := int64(c.FFDim()), int64(c.VocabSize), int64(c.Heads)
	experts, active := int64(max(c.Experts, 1)), int64(max(c.ActiveExperts, 1))

	b := 8*batch*dim + 4*batch*q + batch*c.sync.Bytes(q/c.n) + 4*batch*q/c.n + 8*batch*kv/c.n
	b += 4 * batch * c.normColumns()
	b += 4 * c.seq * c.ropeColumns()
	b += 4 * batch * (heads / c.n) * c.seq
	b += 4*batch*vocab/c.n + 8*batch*ff/c.n
	b += 4*batch*experts + 4*batch*active + 4*active*batch*dim
	b += 8*active*batch*ff/c.n + 4*active*batch
	if c.sync == Q80 {
		b += batch*c.sync.Bytes(dim) + batch*c.sync.Bytes(ff/c.n)
		b += active*batch*c.sync.Bytes(dim) + active*batch*c.sync.Bytes(ff/c.n)
	}
	return b
}

// normColumns is the number of norms a node computes at once: one, or with
// normalised heads one for each of its heads.
func (c calc) normColumns() int64 {
	if !c.QKNorm() {
		return 1
	}
	return max(int64(c.QDim()), int64(c.KVDim())) / c.n / int64(c.HeadDim)
}

// ropeColumns is the width of the table of rotations. For Llama it spans from
// the node's first key value to its last query value, and so grows with the
// node's index.
func (c calc) ropeColumns() int64 {
	if c.QKNorm() {
		return int64(c.HeadDim)
	}
	return (c.node+1)*int64(c.QDim())/c.n - c.node*int64(c.KVDim())/c.n
}

func (c calc) cache() int64 { return int64(c.Layers) * 2 * c.cached * (int64(c.KVDim()) / c.n) * 4 }

func (c calc) weights() int64 {
	dim, q, kv := int64(c.Dim), int64(c.QDim()), int64(c.KVDim())
	ff, vocab := int64(c.FFDim()), int64(c.VocabSize)
	experts := int64(max(c.Experts, 1))
	w := c.Weights.Bytes
	layer := w(q*dim/c.n) + 2*w(kv*dim/c.n) + w(dim*q/c.n) + 3*experts*w(dim*ff/c.n) + 8*dim
	if c.Experts > 0 {
		layer += 4 * experts * dim
	}
	if c.QKNorm() {
		layer += 8 * int64(c.HeadDim)
	}
	total := int64(c.Layers)*layer + 4*dim + w(vocab*dim/c.n)
	if c.node == 0 {
		total += 4 * vocab * dim
	}
	return total
}

// programMemory is what a node needs for the program, its supervisor and its
// threads, in bytes.
const programMemory = 64 << 20

// LoadingMemory is what a node of that many needs beside its plan, in bytes:
// the largest slice of the weights once more while it is loaded, and the
// program itself. The shape must be valid.
func (s Shape) LoadingMemory(nodes int) int64 {
	return s.Weights.Bytes(int64(s.Dim)*int64(max(s.FFDim(), s.VocabSize))/int64(nodes)) + programMemory
}

// slotTokens is what the cache of the embedded engine holds for each slot at
// least, unless the context is shorter.
const slotTokens = 1024

// CacheTokens returns the number of positions of the cache that the slots of the
// embedded engine share: a whole context, and at least 1024 positions or a context
// for each slot. A request may take a whole context; others wait if need be.
func CacheTokens(seqLen, slots int) int { return max(seqLen, slots*min(seqLen, slotTokens)) }

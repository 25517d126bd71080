package llama

import (
	"github.com/gorizond/koldun/internal/engine/llama/kernel"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/topology"
)

// block is the number of values with one scale.
const block = topology.Block

// vectors are the n inputs of a matrix, all of the same width: as float32, and
// also packed if the matrix multiplies packed activations.
type vectors struct {
	n, width int
	values   []float32       // n * width
	packed   []kernel.Packed // n * width / 32, all first blocks, then all second ones; or nil
}

func (v *vectors) at(i int) []float32 { return v.values[i*v.width : (i+1)*v.width] }

// pack packs vector i if the matrix multiplies packed activations.
func (v *vectors) pack(k *kernel.Set, i int) {
	if v.packed != nil {
		k.Pack(v.packed[i:], v.n, v.at(i))
	}
}

// A matrix is the weights of a linear layer, rows outputs by columns inputs.
// It is safe for concurrent use.
type matrix interface {
	rows() int
	// multiply computes the outputs lo..hi-1 of every vector in x: output r
	// of vector i goes to out[i*stride+r].
	multiply(k *kernel.Set, x *vectors, out []float32, stride, lo, hi int)
}

// f32Matrix has float32 weights, row by row.
type f32Matrix struct {
	weights []float32
	width   int
}

func (m *f32Matrix) rows() int { return len(m.weights) / m.width }

func (m *f32Matrix) multiply(k *kernel.Set, x *vectors, out []float32, stride, lo, hi int) {
	k.F32(m.weights, m.width, x.values, x.n, out, stride, lo, hi)
}

// q40Matrix has q40 weights and multiplies packed activations.
type q40Matrix struct {
	blocks []kernel.Q40Block
	width  int // columns
}

func (m *q40Matrix) rows() int { return len(m.blocks) / (m.width / block) }

func (m *q40Matrix) multiply(k *kernel.Set, x *vectors, out []float32, stride, lo, hi int) {
	k.Q40(m.blocks, m.width/block, x.packed, x.n, out, stride, lo, hi)
}

// newMatrix returns the matrix of a tensor. It uses the bytes of the file in
// place where the machine allows it.
func newMatrix(t dllama.Tensor, file []byte) matrix {
	if t.Type == topology.F32 {
		return &f32Matrix{weights: floats(t.Of(file)), width: t.Cols}
	}
	return &q40Matrix{blocks: blocks(t.Of(file)), width: t.Cols}
}

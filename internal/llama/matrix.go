package llama

import (
	"github.com/gorizond/koldun/internal/formats/dllama"
	"github.com/gorizond/koldun/internal/topology"
)

// vectors are the n inputs of a matrix, all of the same width: as float32, and
// also packed if the matrix multiplies packed activations.
type vectors struct {
	n, width int
	values   []float32 // n * width
	packed   []packed  // n * width / 32, or nil
}

func (v *vectors) at(i int) []float32 { return v.values[i*v.width : (i+1)*v.width] }

func (v *vectors) packedAt(i int) []packed {
	w := v.width / block
	return v.packed[i*w : (i+1)*w]
}

// pack packs vector i if the matrix multiplies packed activations.
func (v *vectors) pack(i int) {
	if v.packed != nil {
		pack(v.packedAt(i), v.at(i))
	}
}

// A matrix is the weights of a linear layer, rows outputs by columns inputs.
// It is safe for concurrent use.
type matrix interface {
	rows() int
	// multiply computes the outputs lo..hi-1 of every vector in x: output r
	// of vector i goes to out[i*stride+r].
	multiply(x *vectors, out []float32, stride, lo, hi int)
}

// f32Matrix has float32 weights, row by row.
type f32Matrix struct {
	weights []float32
	width   int
}

func (m *f32Matrix) rows() int { return len(m.weights) / m.width }

func (m *f32Matrix) multiply(x *vectors, out []float32, stride, lo, hi int) {
	for r := lo; r < hi; r++ {
		multiplyRow(m.weights[r*m.width:(r+1)*m.width], x, out[r:], stride)
	}
}

func multiplyRow(row []float32, x *vectors, out []float32, stride int) {
	i := 0
	for ; i+2 <= x.n; i += 2 {
		out[i*stride], out[(i+1)*stride] = dot2F32(row, x.at(i), x.at(i+1))
	}
	if i < x.n {
		out[i*stride] = dotF32(row, x.at(i))
	}
}

// q40Matrix has q40 weights and multiplies packed activations.
type q40Matrix struct {
	blocks []q40Block
	width  int // columns
}

func (m *q40Matrix) rows() int { return len(m.blocks) / (m.width / block) }

func (m *q40Matrix) row(r int) []q40Block {
	w := m.width / block
	return m.blocks[r*w : (r+1)*w]
}

func (m *q40Matrix) multiply(x *vectors, out []float32, stride, lo, hi int) {
	for r := lo; r < hi; r++ {
		row := m.row(r)
		o := out[r:]
		i := 0
		for ; i+4 <= x.n; i += 4 {
			o[i*stride], o[(i+1)*stride], o[(i+2)*stride], o[(i+3)*stride] =
				dot4Q40(row, x.packedAt(i), x.packedAt(i+1), x.packedAt(i+2), x.packedAt(i+3))
		}
		for ; i < x.n; i++ {
			o[i*stride] = dotQ40(row, x.packedAt(i))
		}
	}
}

// newMatrix returns the matrix of a tensor. It uses the bytes of the file in
// place where the machine allows it. For activations that are not rounded, it
// widens q40 weights to float32.
func newMatrix(t dllama.Tensor, file []byte, rounded bool) matrix {
	raw := t.Of(file)
	switch {
	case t.Type == topology.F32:
		return &f32Matrix{weights: floats(raw), width: t.Cols}
	case rounded:
		return &q40Matrix{blocks: blocks(raw), width: t.Cols}
	}
	wide := make([]float32, t.Elements())
	dllama.Decode(t.Type, wide, raw)
	return &f32Matrix{weights: wide, width: t.Cols}
}

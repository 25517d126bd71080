package dllama

import (
	"strconv"

	"github.com/gorizond/koldun/internal/model/topology"
)

// A Role is the part a tensor plays in the model.
type Role int

// The roles, in file order.
const (
	Embedding  Role = iota // one row per token
	Query                  // heads x head dim rows
	Key                    // kv heads x head dim rows
	Value                  // kv heads x head dim rows
	Output                 // of the attention
	Router                 // one row per expert
	Gate                   // of the feed-forward layer, w1
	Down                   // of the feed-forward layer, w2
	Up                     // of the feed-forward layer, w3
	QueryNorm              // one weight per value of a head
	KeyNorm                // one weight per value of a head
	InputNorm              // before the attention
	FFNorm                 // before the feed-forward layer
	FinalNorm              // before the classifier
	Classifier             // one row per token
)

// A Tensor is one matrix (or, with one row, vector) in the file: rows of
// output values by columns of input values, row by row.
type Tensor struct {
	Name   string // as in the safetensors file it comes from
	Role   Role
	Layer  int // -1 outside of layers
	Expert int // -1 outside of experts
	Rows   int
	Cols   int
	Type   topology.FloatType
	Offset int64 // from the beginning of the file, bytes
	Size   int64 // bytes
}

// Elements returns the number of values.
func (t Tensor) Elements() int64 { return int64(t.Rows) * int64(t.Cols) }

// End returns the offset of the first byte after the tensor.
func (t Tensor) End() int64 { return t.Offset + t.Size }

// Of returns the tensor's bytes of a file in memory. It panics if the file is
// shorter than the header implies, which Open checks.
func (t Tensor) Of(file []byte) []byte { return file[t.Offset:t.End():t.End()] }

// Tensors returns every tensor in file order, without gaps. The header must be
// valid.
func (h Header) Tensors() []Tensor {
	s := h.Shape()
	perLayer := 9 + 3*max(s.Experts, 1)
	p := planner{
		tensors: make([]Tensor, 0, 3+s.Layers*perLayer),
		offset:  int64(h.headerSize()),
		layer:   -1,
		expert:  -1,
	}
	p.add("model.embed_tokens.weight", Embedding, s.VocabSize, s.Dim, topology.F32)
	for l := range s.Layers {
		p.layer = l
		p.addLayer(s)
	}
	p.layer = -1
	p.add("model.norm.weight", FinalNorm, 1, s.Dim, topology.F32)
	p.add("lm_head.weight", Classifier, s.VocabSize, s.Dim, s.Weights)
	return p.tensors
}

// FileSize returns the exact size of the file in bytes. The header must be
// valid.
func (h Header) FileSize() int64 { return int64(h.headerSize()) + h.Shape().WeightBytes() }

func (h Header) headerSize() int {
	if h.Size != 0 {
		return h.Size
	}
	return 8 + 8*len(h.pairs())
}

type planner struct {
	tensors       []Tensor
	offset        int64
	layer, expert int
}

func (p *planner) add(name string, role Role, rows, cols int, t topology.FloatType) {
	size := t.Bytes(int64(rows) * int64(cols))
	p.tensors = append(p.tensors, Tensor{
		Name: name, Role: role, Layer: p.layer, Expert: p.expert,
		Rows: rows, Cols: cols, Type: t, Offset: p.offset, Size: size,
	})
	p.offset += size
}

func (p *planner) addLayer(s topology.Shape) {
	prefix := "model.layers." + strconv.Itoa(p.layer) + "."
	p.add(prefix+"self_attn.q_proj.weight", Query, s.QDim(), s.Dim, s.Weights)
	p.add(prefix+"self_attn.k_proj.weight", Key, s.KVDim(), s.Dim, s.Weights)
	p.add(prefix+"self_attn.v_proj.weight", Value, s.KVDim(), s.Dim, s.Weights)
	p.add(prefix+"self_attn.o_proj.weight", Output, s.Dim, s.QDim(), s.Weights)
	if s.Experts == 0 {
		p.addFeedForward(prefix+"mlp.", s)
	} else {
		p.add(prefix+"mlp.gate.weight", Router, s.Experts, s.Dim, topology.F32)
		for e := range s.Experts {
			p.expert = e
			p.addFeedForward(prefix+"mlp.experts."+strconv.Itoa(e)+".", s)
		}
		p.expert = -1
	}
	if s.QKNorm() {
		p.add(prefix+"self_attn.q_norm.weight", QueryNorm, 1, s.HeadDim, topology.F32)
		p.add(prefix+"self_attn.k_norm.weight", KeyNorm, 1, s.HeadDim, topology.F32)
	}
	p.add(prefix+"input_layernorm.weight", InputNorm, 1, s.Dim, topology.F32)
	p.add(prefix+"post_attention_layernorm.weight", FFNorm, 1, s.Dim, topology.F32)
}

func (p *planner) addFeedForward(prefix string, s topology.Shape) {
	p.add(prefix+"gate_proj.weight", Gate, s.FFDim(), s.Dim, s.Weights)
	p.add(prefix+"down_proj.weight", Down, s.Dim, s.FFDim(), s.Weights)
	p.add(prefix+"up_proj.weight", Up, s.FFDim(), s.Dim, s.Weights)
}

package llama

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/topology"
)

// A model holds the weights of a .m file, in place in the mapped file. It is
// immutable and safe for concurrent use until close.
type model struct {
	header     dllama.Header
	shape      topology.Shape
	rounded    bool   // whether activations are rounded to q80
	embedding  []byte // vocabulary * dim float32s
	layers     []layer
	finalNorm  []float32
	classifier matrix
	rope       rope
	unmap      func() error
}

type layer struct {
	query, key, value, output matrix
	expert                           // the only one, unless there is a router
	router                    matrix // scores the experts; nil if there are none
	experts                   []expert
	queryNorm, keyNorm        []float32 // nil if the architecture has none
	inputNorm, ffNorm         []float32
}

// openModel maps the file. The parameter buffers is the type of activations
// between matrices.
func openModel(path string, buffers topology.FloatType) (*model, error) {
	m, err := mapModel(path, buffers)
	if err != nil {
		return nil, fault.As(fault.KindOf(err), fmt.Errorf("cannot open model %q: %w", path, err))
	}
	return m, nil
}

func mapModel(path string, buffers topology.FloatType) (_ *model, err error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // a mapping outlives its file
	// Check the file before mapping it: an empty file cannot be mapped.
	if _, err := dllama.Open(f, size); err != nil {
		return nil, err
	}
	data, unmap, err := mapFile(f, size)
	if err != nil {
		return nil, err
	}
	m, err := readMapped(data, buffers)
	if err != nil {
		_ = unmap()
		return nil, err
	}
	m.unmap = unmap
	return m, nil
}

// readMapped finds the weights in a mapped file, and reads some. The error is
// Corrupt if the file was truncated since it was mapped.
func readMapped(data []byte, buffers topology.FloatType) (_ *model, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if gone := faulted(recover()); gone != nil {
			err = gone
		}
	}()
	file, err := dllama.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	if err := runnable(file.Header, buffers); err != nil {
		return nil, err
	}
	m := &model{
		header: file.Header, shape: file.Header.Shape(), rounded: file.Header.Weights == topology.Q40,
		rope: newRope(file.Header),
	}
	return m, m.load(file, data)
}

// openRegular opens a regular file and returns its size.
func openRegular(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil, 0, fault.Errorf(fault.NotFound, "no such file")
	}
	if os.IsPermission(err) {
		return nil, 0, fault.As(fault.Denied, err)
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fault.Errorf(fault.Invalid, "it is not a regular file")
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// runnable checks that the engine can compute a model with buffers of a type. The
// error is Unsupported.
func runnable(h dllama.Header, buffers topology.FloatType) error {
	if h.Activation != dllama.SiLU {
		return fault.Errorf(fault.Unsupported, "the embedded engine runs the hidden activation silu, not gelu")
	}
	if s := h.RopeScaling; s != nil && s.Factor != 1 && s.HighFreqFactor <= s.LowFreqFactor {
		return fault.Errorf(fault.Unsupported, "rope scaling has high frequency factor %d, want more than the low one, %d", s.HighFreqFactor, s.LowFreqFactor)
	}
	want, err := topology.SyncFor(h.Weights)
	if err != nil {
		return err
	}
	if buffers == "" || buffers == want {
		return nil
	}
	return fault.Errorf(fault.Unsupported, "weights of type %s need buffers of type %s, not %s: set the buffer float type to %s", h.Weights, want, buffers, want)
}

func (m *model) load(file *dllama.File, data []byte) error {
	m.layers = make([]layer, m.shape.Layers)
	for i := range m.layers {
		m.layers[i].experts = make([]expert, m.shape.Experts)
	}
	for _, t := range file.Tensors {
		if t.Role == dllama.Embedding {
			m.embedding = t.Of(data)
			continue
		}
		if t.Role == dllama.Classifier {
			m.classifier = newMatrix(t, data)
			continue
		}
		if isNorm(t.Role) {
			values, err := file.Read(t)
			if err != nil {
				return err
			}
			*m.norm(t) = values
			continue
		}
		*m.layers[t.Layer].matrix(t) = newMatrix(t, data)
	}
	return nil
}

func isNorm(r dllama.Role) bool {
	switch r {
	case dllama.QueryNorm, dllama.KeyNorm, dllama.InputNorm, dllama.FFNorm, dllama.FinalNorm:
		return true
	}
	return false
}

func (m *model) norm(t dllama.Tensor) *[]float32 {
	switch t.Role {
	case dllama.QueryNorm:
		return &m.layers[t.Layer].queryNorm
	case dllama.KeyNorm:
		return &m.layers[t.Layer].keyNorm
	case dllama.InputNorm:
		return &m.layers[t.Layer].inputNorm
	case dllama.FFNorm:
		return &m.layers[t.Layer].ffNorm
	}
	return &m.finalNorm
}

func (l *layer) matrix(t dllama.Tensor) *matrix {
	x := &l.expert
	if t.Expert >= 0 {
		x = &l.experts[t.Expert]
	}
	switch t.Role {
	case dllama.Query:
		return &l.query
	case dllama.Key:
		return &l.key
	case dllama.Value:
		return &l.value
	case dllama.Output:
		return &l.output
	case dllama.Router:
		return &l.router
	case dllama.Gate:
		return &x.gate
	case dllama.Down:
		return &x.down
	}
	return &x.up
}

// embed writes the embedding of a token to dst.
func (m *model) embed(token int, dst []float32) {
	size := 4 * m.shape.Dim
	dllama.Decode(topology.F32, dst, m.embedding[token*size:(token+1)*size])
}

func (m *model) close() error { return m.unmap() }

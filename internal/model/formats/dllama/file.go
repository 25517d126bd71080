package dllama

import (
	"fmt"
	"io"

	"github.com/gorizond/koldun/internal/fault"
)

// A File is an open .m file. It reads tensors on demand and is safe for
// concurrent use if its ReaderAt is. The caller closes the ReaderAt.
type File struct {
	Header  Header
	Tensors []Tensor // in file order

	r     io.ReaderAt
	index map[tensorKey]int
}

type tensorKey struct {
	role          Role
	layer, expert int
}

// Open reads the header of a file of the given size and checks that the header
// implies this size. To use a mapped file, pass a bytes.Reader over the
// mapping; Tensor.Of then returns weights without copying.
func Open(r io.ReaderAt, size int64) (*File, error) {
	h, err := ReadHeader(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, err
	}
	if want := h.FileSize(); size != want {
		return nil, fault.Errorf(fault.Corrupt, "cannot read model: the file has %d bytes, its header implies %d (%+d)", size, want, size-want)
	}
	f := &File{Header: h, Tensors: h.Tensors(), r: r, index: map[tensorKey]int{}}
	for i, t := range f.Tensors {
		f.index[tensorKey{t.Role, t.Layer, t.Expert}] = i
	}
	return f, nil
}

// Find returns a tensor and whether it exists. Layer and expert are -1 for
// tensors outside of layers and experts.
func (f *File) Find(role Role, layer, expert int) (Tensor, bool) {
	i, ok := f.index[tensorKey{role, layer, expert}]
	if !ok {
		return Tensor{}, false
	}
	return f.Tensors[i], true
}

// Read returns a tensor's values as float32, row by row.
func (f *File) Read(t Tensor) ([]float32, error) {
	raw := make([]byte, t.Size)
	if n, err := f.r.ReadAt(raw, t.Offset); err != nil && n != len(raw) {
		return nil, fmt.Errorf("cannot read tensor %q at byte %d: %w", t.Name, t.Offset, err)
	}
	out := make([]float32, t.Elements())
	Decode(t.Type, out, raw)
	return out, nil
}

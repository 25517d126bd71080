// Package safetensors reads the headers of safetensors files. A file is an
// 8-byte length, a header of that many bytes of JSON that describes the
// tensors, and their values.
//
// It accepts a header only if it agrees with the size of the file: tensors
// must fill the file without overlap or gap, and have the size that their type
// and shape imply.
package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gorizond/koldun/internal/fault"
)

// Limits. The reference implementation accepts headers of up to 100 MB; the
// largest published headers have about 1 MB.
const (
	Prefix    = 8       // bytes before the header
	MaxHeader = 1 << 24 // bytes
	maxDims   = 8
)

// A Tensor locates the values of one tensor, which are stored row by row and
// little-endian.
type Tensor struct {
	Name   string
	DType  DType
	Shape  []int64
	Offset int64 // from the beginning of the file, bytes
	Size   int64 // bytes
}

// Elements returns the product of the shape.
func (t Tensor) Elements() int64 {
	n, _ := product(t.Shape)
	return n
}

// HeaderSize returns the length of the header by the first Prefix bytes of a
// file of the given size. The error is Corrupt.
func HeaderSize(prefix []byte, fileSize int64) (int64, error) {
	if len(prefix) < Prefix || fileSize < Prefix {
		return 0, fault.Errorf(fault.Corrupt, "cannot read safetensors header: the file has %d bytes, want at least %d", fileSize, Prefix)
	}
	n := binary.LittleEndian.Uint64(prefix)
	if n > uint64(fileSize-Prefix) {
		return 0, fault.Errorf(fault.Corrupt, "cannot read safetensors header: it claims %d bytes, the file has %d", n, fileSize)
	}
	if n > MaxHeader {
		return 0, fault.Errorf(fault.Corrupt, "cannot read safetensors header: it has %d bytes, want at most %d", n, MaxHeader)
	}
	return int64(n), nil
}

// ReadHeader reads the header from the beginning of a file of the given size.
func ReadHeader(r io.Reader, fileSize int64) ([]Tensor, error) {
	var prefix [Prefix]byte
	if n, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, cut(err, int64(n))
	}
	size, err := HeaderSize(prefix[:], fileSize)
	if err != nil {
		return nil, err
	}
	header := make([]byte, size)
	if n, err := io.ReadFull(r, header); err != nil {
		return nil, cut(err, Prefix+int64(n))
	}
	return Parse(header, fileSize)
}

func cut(err error, at int64) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault.Errorf(fault.Corrupt, "cannot read safetensors header: the file ends at byte %d", at)
	}
	return fmt.Errorf("cannot read safetensors header: %w", err)
}

// Parse reads a header (without its length) of a file of the given size and
// returns the tensors in the order of their offsets. The error is Corrupt and
// names the tensor.
func Parse(header []byte, fileSize int64) ([]Tensor, error) {
	base := Prefix + int64(len(header))
	tensors, err := decode(header, base)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("its JSON object does not end")
	}
	if err == nil {
		err = checkLayout(tensors, base, fileSize)
	}
	if err != nil {
		return nil, fault.Errorf(fault.Corrupt, "cannot read safetensors header: %w", err)
	}
	return tensors, nil
}

// decode reads the JSON object key by key in order to refuse duplicate names.
func decode(header []byte, base int64) ([]Tensor, error) {
	d := json.NewDecoder(bytes.NewReader(header))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	var tensors []Tensor
	names := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		if names[name] {
			return nil, fmt.Errorf("tensor %q is listed twice", name)
		}
		names[name] = true
		if name == "__metadata__" {
			var ignored json.RawMessage
			if err := d.Decode(&ignored); err != nil {
				return nil, err
			}
			continue
		}
		var e entry
		if err := d.Decode(&e); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		t, err := e.tensor(name, base)
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		tensors = append(tensors, t)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if rest := header[d.InputOffset():]; strings.Trim(string(rest), " \t\r\n\x00") != "" {
		return nil, fmt.Errorf("%d bytes follow its JSON object", len(rest))
	}
	return tensors, nil
}

type entry struct {
	DType   DType   `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

func (e entry) tensor(name string, base int64) (Tensor, error) {
	if e.DType == "" {
		return Tensor{}, errors.New("dtype is missing")
	}
	if len(e.Offsets) != 2 || e.Offsets[0] < 0 || e.Offsets[1] < e.Offsets[0] || e.Offsets[1] > math.MaxInt64-base {
		return Tensor{}, fmt.Errorf("data_offsets are %v, want begin and end", e.Offsets)
	}
	if e.Shape == nil || len(e.Shape) > maxDims {
		return Tensor{}, fmt.Errorf("shape is %v, want a list of at most %d numbers", e.Shape, maxDims)
	}
	n, ok := product(e.Shape)
	if !ok {
		return Tensor{}, fmt.Errorf("shape is %v, whose product is negative or too large", e.Shape)
	}
	size := e.Offsets[1] - e.Offsets[0]
	if width, known := bits[e.DType]; known {
		if n > math.MaxInt64/64 || n*width != size*8 {
			return Tensor{}, fmt.Errorf("data_offsets %v span %d bytes, but dtype %s and shape %v need %d", e.Offsets, size, e.DType, e.Shape, n*width/8)
		}
	}
	return Tensor{Name: name, DType: e.DType, Shape: e.Shape, Offset: base + e.Offsets[0], Size: size}, nil
}

// product returns the product of a shape. It reports false if a dimension is
// negative or the product overflows.
func product(shape []int64) (n int64, ok bool) {
	n = 1
	for _, d := range shape {
		if d < 0 {
			return 0, false
		}
		if d != 0 && n > math.MaxInt64/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// checkLayout sorts the tensors by offset and checks that they fill the file.
func checkLayout(tensors []Tensor, base, fileSize int64) error {
	slices.SortFunc(tensors, func(a, b Tensor) int {
		if a.Offset != b.Offset {
			return int(min(max(a.Offset-b.Offset, -1), 1))
		}
		return int(min(max(a.Size-b.Size, -1), 1))
	})
	at, before := base, "the header"
	for _, t := range tensors {
		if t.Offset < at {
			return fmt.Errorf("tensor %q begins at byte %d, inside of %s, which ends at %d", t.Name, t.Offset, before, at)
		}
		if t.Offset > at {
			return fmt.Errorf("tensor %q begins at byte %d, %d bytes after %s", t.Name, t.Offset, t.Offset-at, before)
		}
		at = t.Offset + t.Size
		if at > fileSize {
			return fmt.Errorf("the file has %d bytes, but tensor %q ends at %d: it is truncated", fileSize, t.Name, at)
		}
		before = fmt.Sprintf("tensor %q", t.Name)
	}
	if at != fileSize {
		return fmt.Errorf("the file has %d bytes, but its tensors end at %d", fileSize, at)
	}
	return nil
}

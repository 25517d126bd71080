//go:build !unix

package llama

import (
	"fmt"
	"io"
	"os"
)

// mapFile reads size bytes of f.
func mapFile(f *os.File, size int64) (data []byte, unmap func() error, err error) {
	data = make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, nil, fmt.Errorf("cannot read file %q: %w", f.Name(), err)
	}
	return data, func() error { return nil }, nil
}

// newFloats allocates n zeros.
func newFloats(n int64) (values []float32, free func() error, err error) {
	return make([]float32, n), func() error { return nil }, nil
}

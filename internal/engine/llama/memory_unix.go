//go:build unix

package llama

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/gorizond/koldun/internal/fault"
)

// mapFile maps size bytes of f for reading. The system reads pages on first
// use and may drop them again.
func mapFile(f *os.File, size int64) (data []byte, unmap func() error, err error) {
	if int64(int(size)) != size {
		return nil, nil, fault.Errorf(fault.Unsupported, "cannot map file %q: %d bytes are too many for this machine", f.Name(), size)
	}
	data, err = unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot map file %q: %w", f.Name(), err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}

// newFloats allocates n zeros, which take memory only when they are written.
// Unlike make, it returns an error if memory is short.
func newFloats(n int64) (values []float32, free func() error, err error) {
	if int64(int(4*n)) != 4*n {
		return nil, nil, fault.Errorf(fault.Unsupported, "cannot allocate %d bytes: too many for this machine", 4*n)
	}
	raw, err := unix.Mmap(-1, 0, int(4*n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, nil, fault.Errorf(fault.Quota, "cannot allocate %d bytes: %w", 4*n, err)
	}
	p := unsafe.Pointer(unsafe.SliceData(raw)) //nolint:gosec // pages are aligned and 4*n long
	return unsafe.Slice((*float32)(p), n), func() error { return unix.Munmap(raw) }, nil
}

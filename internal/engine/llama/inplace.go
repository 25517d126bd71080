package llama

import (
	"encoding/binary"
	"unsafe"

	"github.com/gorizond/koldun/internal/engine/llama/kernel"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/topology"
)

// blocks returns q40 blocks in place. Blocks are bytes and need no alignment.
func blocks(raw []byte) []kernel.Q40Block {
	p := unsafe.Pointer(unsafe.SliceData(raw))                           //nolint:gosec // the length is that of raw
	return unsafe.Slice((*kernel.Q40Block)(p), len(raw)/dllama.Q40Block) //nolint:gosec // as above
}

// floats returns little-endian float32s in place if byte order and alignment
// allow it, else as a copy.
func floats(raw []byte) []float32 {
	p := unsafe.Pointer(unsafe.SliceData(raw)) //nolint:gosec // length, alignment and byte order are checked
	if uintptr(p)%4 == 0 && binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return unsafe.Slice((*float32)(p), len(raw)/4) //nolint:gosec // as above
	}
	out := make([]float32, len(raw)/4)
	dllama.Decode(topology.F32, out, raw)
	return out
}

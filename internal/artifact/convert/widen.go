package convert

import (
	"encoding/binary"
	"math"

	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/formats/safetensors"
)

// widen turns raw values into float32, exactly, and reports whether all are
// finite. len(raw) is len(dst) values of the type.
func widen(dst []float32, raw []byte, t safetensors.DType) bool {
	switch t {
	case safetensors.BF16:
		return widenBF16(dst, raw)
	case safetensors.F16:
		return widenF16(dst, raw)
	default:
		return widenF32(dst, raw)
	}
}

// Values whose exponent has only ones are not finite. Adding one to the
// exponent then carries into the sign bit, masked before, so that the sums of
// many values can be collected with OR. Four or two values go at once.
const (
	exponentBF16 = 0x7f80_7f80_7f80_7f80
	oneBF16      = 0x0080_0080_0080_0080
	exponentF16  = 0x7c00_7c00_7c00_7c00
	oneF16       = 0x0400_0400_0400_0400
	signs16      = 0x8000_8000_8000_8000
	exponentF32  = 0x7f800000_7f800000
	oneF32       = 0x00800000_00800000
	signs32      = 0x80000000_80000000
)

func widenBF16(dst []float32, raw []byte) bool {
	var carry uint64
	for len(dst) >= 4 && len(raw) >= 8 {
		w := binary.LittleEndian.Uint64(raw)
		carry |= w&exponentBF16 + oneBF16
		dst[0] = math.Float32frombits(uint32(w) << 16)
		dst[1] = math.Float32frombits(uint32(w) & 0xffff0000)
		dst[2] = math.Float32frombits(uint32(w>>32) << 16)
		dst[3] = math.Float32frombits(uint32(w>>32) & 0xffff0000)
		dst, raw = dst[4:], raw[8:]
	}
	for i := range dst {
		h := binary.LittleEndian.Uint16(raw[2*i:])
		carry |= uint64(h)&0x7f80 + 0x0080
		dst[i] = dllama.FromBF16(h)
	}
	return carry&signs16 == 0
}

func widenF16(dst []float32, raw []byte) bool {
	var carry uint64
	for len(dst) >= 4 && len(raw) >= 8 {
		w := binary.LittleEndian.Uint64(raw)
		carry |= w&exponentF16 + oneF16
		dst[0] = finiteF16(uint16(w))
		dst[1] = finiteF16(uint16(w >> 16))
		dst[2] = finiteF16(uint16(w >> 32))
		dst[3] = finiteF16(uint16(w >> 48))
		dst, raw = dst[4:], raw[8:]
	}
	for i := range dst {
		h := binary.LittleEndian.Uint16(raw[2*i:])
		carry |= uint64(h)&0x7c00 + 0x0400
		dst[i] = finiteF16(h)
	}
	return carry&signs16 == 0
}

// finiteF16 widens a finite binary16: its bits, read as a float32, are smaller
// by the difference of the exponents' biases, subnormals included.
func finiteF16(h uint16) float32 {
	f := math.Float32frombits(uint32(h&0x7fff)<<13) * 0x1p112
	return math.Float32frombits(math.Float32bits(f) | uint32(h&0x8000)<<16)
}

func widenF32(dst []float32, raw []byte) bool {
	var carry uint64
	for len(dst) >= 2 && len(raw) >= 8 {
		w := binary.LittleEndian.Uint64(raw)
		carry |= w&exponentF32 + oneF32
		dst[0] = math.Float32frombits(uint32(w))
		dst[1] = math.Float32frombits(uint32(w >> 32))
		dst, raw = dst[2:], raw[8:]
	}
	for i := range dst {
		b := binary.LittleEndian.Uint32(raw[4*i:])
		carry |= uint64(b)&0x7f800000 + 0x00800000
		dst[i] = math.Float32frombits(b)
	}
	return carry&signs32 == 0
}

package dllama

import (
	"encoding/binary"
	"math"

	"github.com/gorizond/koldun/internal/model/topology"
)

// EncodeQ80 rounds 32 values to 8 bits each with one common scale, the largest
// magnitude / 127. It rounds to nearest with ties to even; values that are not
// finite become 0.
func EncodeQ80(dst *[Q80Block]byte, src *[topology.Block]float32) {
	a := extreme(src)
	if a < 0 {
		a = -a
	}
	d := a / 127
	inv := float32(0)
	if d != 0 {
		inv = 1 / d
	}
	binary.LittleEndian.PutUint16(dst[:], F16(d))
	for i, x := range src {
		dst[2+i] = byte(roundEven(float32(x * inv)))
	}
}

// roundEven rounds by adding 1.5 x 2^23, which leaves no bit for a fraction.
// The products slightly exceed 127 at most.
func roundEven(t float32) int8 {
	const shift = 3 << 22
	if !(t > -256 && t < 256) {
		return 0
	}
	return int8(int32(math.Float32bits(t+shift)) - int32(math.Float32bits(shift)))
}

// DecodeQ80 computes the 32 values of a block: byte * scale.
func DecodeQ80(dst *[topology.Block]float32, src *[Q80Block]byte) {
	d := FromF16(binary.LittleEndian.Uint16(src[:]))
	for i, b := range src[2:] {
		dst[i] = float32(int8(b)) * d
	}
}

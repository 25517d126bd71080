package dllama

import (
	"encoding/binary"
	"math"

	"github.com/gorizond/koldun/internal/topology"
)

// EncodeQ40 rounds 32 values to 4 bits each with one common scale.
//
// The value of largest magnitude, which with its sign becomes -8, sets the
// step d = pick / -8. Values are multiplied by 1/d, not divided, and the step
// is stored rounded while the values are computed with the exact one. Byte i
// holds value i in its low and value i+16 in its high nibble.
func EncodeQ40(dst *[Q40Block]byte, src *[topology.Block]float32) {
	pick := extreme(src)
	d := pick / -8
	inv := float32(0)
	if d != 0 {
		inv = 1 / d
	}
	binary.LittleEndian.PutUint16(dst[:], F16(d))
	for i := range 16 {
		dst[2+i] = nibble(src[i], inv) | nibble(src[i+16], inv)<<4
	}
}

// nibble is trunc(clamp(x*inv + 8.5, 0, 15)), and 0 for NaN. The conversion
// keeps the compiler from fusing the two operations into one rounding.
func nibble(x, inv float32) byte {
	t := float32(x*inv) + 8.5
	if !(t > 0) {
		return 0
	}
	if t >= 15 {
		return 15
	}
	return byte(t)
}

// extreme is the value of largest magnitude with its sign. The positive one
// wins a tie of both signs, the last one a tie of zeros, and NaN over all.
func extreme(src *[topology.Block]float32) float32 {
	mx, mn := src[0], src[0]
	for _, x := range src {
		if x != x {
			return float32(math.NaN())
		}
		if x >= mx {
			mx = x
		}
		if x <= mn {
			mn = x
		}
	}
	if -mn > mx {
		return mn
	}
	return mx
}

// DecodeQ40 computes the 32 values of a block: (nibble - 8) * scale.
func DecodeQ40(dst *[topology.Block]float32, src *[Q40Block]byte) {
	d := FromF16(binary.LittleEndian.Uint16(src[:]))
	for i, b := range src[2:] {
		dst[i] = float32(int(b&15)-8) * d
		dst[i+16] = float32(int(b>>4)-8) * d
	}
}

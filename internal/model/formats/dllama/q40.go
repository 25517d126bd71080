package dllama

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/gorizond/koldun/internal/model/topology"
)

// EncodeQ40 rounds 32 values to 4 bits each with one common scale.
//
// The signed value of largest magnitude, pick, becomes -8 and sets the step
// d = pick / -8. Values are multiplied by 1/d, not divided by d. The stored
// step is rounded, but values are computed with the exact one. Byte i holds
// value i in its low and value i+16 in its high nibble. NaN becomes 0.
func EncodeQ40(dst *[Q40Block]byte, src *[topology.Block]float32) {
	pick := extreme(src)
	d := pick / -8
	binary.LittleEndian.PutUint16(dst[:], F16(d))
	if !(d >= smallest || d <= -smallest) || math.IsInf(float64(d), 0) {
		encodeOddQ40(dst, src, d)
		return
	}
	inv := 1 / d
	for i := range 16 {
		// Products are between -8 and 8 plus or minus one rounding, so only
		// the upper end needs a bound. The conversions prevent the compiler
		// from fusing products and additions.
		lo := int32(float32(src[i]*inv) + 8.5)
		hi := int32(float32(src[i+16]*inv) + 8.5)
		dst[2+i] = byte(min(lo, 15) | min(hi, 15)<<4)
	}
}

// smallest is the smallest step with a finite inverse.
const smallest = 0x1p-126

// encodeOddQ40 encodes blocks whose step is zero, subnormal, infinite or NaN.
func encodeOddQ40(dst *[Q40Block]byte, src *[topology.Block]float32, d float32) {
	inv := float32(0)
	if d != 0 {
		inv = 1 / d
	}
	for i := range 16 {
		dst[2+i] = nibble(src[i], inv) | nibble(src[i+16], inv)<<4
	}
}

// nibble returns trunc(clamp(x*inv + 8.5, 0, 15)), and 0 for NaN.
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

// extreme returns the value of largest magnitude with its sign. Of both signs
// the positive value wins, of several zeros the last, and NaN wins over all.
//
// It compares bits: rotated left by one, they order by magnitude and then by
// the sign, which is flipped to order positive values above negative ones.
func extreme(src *[topology.Block]float32) float32 {
	var a, b uint32
	for i := 0; i < topology.Block; i += 2 {
		a = max(a, bits.RotateLeft32(math.Float32bits(src[i]), 1)^1)
		b = max(b, bits.RotateLeft32(math.Float32bits(src[i+1]), 1)^1)
	}
	a = max(a, b)
	if a <= 1 {
		return src[topology.Block-1]
	}
	if a > infinite {
		return float32(math.NaN())
	}
	return math.Float32frombits(bits.RotateLeft32(a^1, -1))
}

// infinite is +Inf in the order of extreme; only NaN is greater.
const infinite = 0x7f800000<<1 | 1

// DecodeQ40 computes the 32 values of a block: (nibble - 8) * scale.
func DecodeQ40(dst *[topology.Block]float32, src *[Q40Block]byte) {
	d := FromF16(binary.LittleEndian.Uint16(src[:]))
	for i, b := range src[2:] {
		dst[i] = float32(int(b&15)-8) * d
		dst[i+16] = float32(int(b>>4)-8) * d
	}
}

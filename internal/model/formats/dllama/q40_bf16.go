package dllama

import (
	"encoding/binary"
	"math"

	"github.com/gorizond/koldun/internal/model/topology"
)

// Words of four bfloat16 values.
const (
	bf16Block = 2 * topology.Block
	signs     = 0x8000_8000_8000_8000
	infinity  = 0x7f80 // the smallest magnitude that is not finite
)

// EncodeQ40BF16 rounds little-endian bfloat16 values to q40. It writes the
// same bytes as EncodeQ40 does for these values as float32. len(src) must be a
// multiple of 64, and dst needs 18 bytes for each 64. It reports whether all
// values are finite; if not, dst is undefined.
//
// Most published models need this conversion, so it handles four values at a
// time where possible.
func EncodeQ40BF16(dst, src []byte) bool {
	if len(src)%bf16Block != 0 || len(dst) != len(src)/bf16Block*Q40Block {
		panic("dllama: bytes do not match values")
	}
	for len(src) >= bf16Block && len(dst) >= Q40Block {
		if !encodeQ40BF16((*[Q40Block]byte)(dst), (*[bf16Block]byte)(src)) {
			return false
		}
		dst, src = dst[Q40Block:], src[bf16Block:]
	}
	return true
}

func encodeQ40BF16(dst *[Q40Block]byte, src *[bf16Block]byte) bool {
	var w [8]uint64
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(src[8*i : 8*i+8])
	}
	most := largest(&w)
	if most >= infinity {
		return false
	}
	pick := math.Float32frombits(most << 16)
	if !holds(&w, most) {
		pick = -pick
	}
	d := pick / -8
	if !(d >= smallest || d <= -smallest) {
		var values [topology.Block]float32
		for i := range values {
			values[i] = FromBF16(binary.LittleEndian.Uint16(src[2*i:]))
		}
		EncodeQ40(dst, &values)
		return true
	}
	inv := 1 / d
	binary.LittleEndian.PutUint16(dst[:], F16(d))
	binary.LittleEndian.PutUint64(dst[2:], nibbles(w[0], w[1], inv)|nibbles(w[4], w[5], inv)<<4)
	binary.LittleEndian.PutUint64(dst[10:], nibbles(w[2], w[3], inv)|nibbles(w[6], w[7], inv)<<4)
	return true
}

// largest returns the largest magnitude of 32 values, a number of 15 bits. The
// sign bit of each lane takes the borrow of a comparison.
func largest(w *[8]uint64) uint32 {
	m := w[0] &^ signs
	for _, x := range w[1:] {
		x &^= signs
		greater := (x | signs) - m
		greater &= signs
		mask := greater - greater>>15
		m ^= (m ^ x) & mask
	}
	hi := m >> 32
	return max(uint32(m)&0xffff, uint32(m)>>16, uint32(hi)&0xffff, uint32(hi)>>16)
}

// holds reports whether one of 32 values equals value, which has no sign bit.
func holds(w *[8]uint64, value uint32) bool {
	v := uint64(value) * 0x0001_0001_0001_0001
	differ := uint64(signs)
	for _, x := range w {
		x ^= v
		differ &= x&^signs + ^uint64(signs) | x
	}
	return differ != signs
}

// nibbles rounds eight values to bytes from 0 to 15, the first in the lowest
// byte. Rounding returns 0 to 16; the last line turns each 16 into 15.
func nibbles(a, b uint64, inv float32) uint64 {
	q := level(uint32(a)<<16, inv) | level(uint32(a)&0xffff0000, inv)<<8 |
		level(uint32(a>>32)<<16, inv)<<16 | level(uint32(a>>32)&0xffff0000, inv)<<24 |
		level(uint32(b)<<16, inv)<<32 | level(uint32(b)&0xffff0000, inv)<<40 |
		level(uint32(b>>32)<<16, inv)<<48 | level(uint32(b>>32)&0xffff0000, inv)<<56
	return q - q>>4&0x0101_0101_0101_0101
}

func level(bits uint32, inv float32) uint64 {
	return uint64(int32(float32(math.Float32frombits(bits)*inv) + 8.5))
}

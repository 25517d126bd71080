package dllama

import "math"

// F16 rounds f to IEEE binary16, to nearest with ties to even. Values that are
// too large become infinite; subnormals stay subnormal.
func F16(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000: // NaN: keep the upper payload, stay a NaN
		return sign | 0x7c00 | 0x0200 | uint16(b>>13&0x03ff)
	case b >= 0x477ff000: // rounds to 65536 or more
		return sign | 0x7c00
	case b >= 0x38800000: // normal: rebias from 127 to 15, round 13 bits away
		return sign | uint16((b-(112<<23)+0x0fff+(b>>13&1))>>13)
	}
	// Subnormal: adding 0.5 leaves the value's multiple of 2^-24 in the low
	// bits, rounded by the addition itself.
	sum := math.Float32frombits(b) + 0.5
	return sign | uint16(math.Float32bits(sum)-math.Float32bits(0.5))
}

// FromF16 widens an IEEE binary16 exactly.
func FromF16(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp := uint32(h >> 10 & 0x1f)
	frac := uint32(h & 0x03ff)
	switch exp {
	case 0:
		f := float32(frac) * (1.0 / (1 << 24))
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// FromBF16 widens a bfloat16 exactly.
func FromBF16(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

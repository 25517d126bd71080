package kernel

import (
	"encoding/binary"
	"math"
)

const (
	halfExponent = 0x7c00 // the exponent bits of binary16, all set for inf and NaN
	exponent     = 0x7f800000
	sign         = 0x80000000
	rebias       = 0x1p112
)

// q40Scale widens the scale of a block. Shifting a binary16 into the place of
// a float32 leaves its exponent 112 too low. One exact multiplication corrects
// it, also for subnormals.
func q40Scale(b *Q40Block) float32 {
	h := uint32(binary.LittleEndian.Uint16(b[:]))
	wide := h<<16&sign | h&0x7fff<<13
	if h&halfExponent == halfExponent {
		wide |= exponent
	}
	return math.Float32frombits(wide) * rebias
}

package kernel

import (
	"encoding/binary"

	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/topology"
)

// block is the number of values with one scale.
const block = topology.Block

// A Packed is a block of 32 activations rounded to q80, as the kernels of one
// Set read it. The assembly depends on the layout.
type Packed struct {
	words [8]uint64
	scale float32 // as stored in q80: rounded to binary16
	bias  int32   // -8 times the sum of the values: q40 nibbles are 8 too large
}

// Pack rounds src to q80 into every stride-th element of dst. The length of src
// must be a multiple of 32.
func (s *Set) Pack(dst []Packed, stride int, src []float32) { s.pack(dst, stride, src) }

func packLanes(dst []Packed, stride int, src []float32) { portablePack(dst, stride, src, true) }

func portablePack(dst []Packed, stride int, src []float32, lanes bool) {
	var raw [dllama.Q80Block]byte
	for i := range len(src) / block {
		dllama.EncodeQ80(&raw, (*[block]float32)(src[i*block:]))
		dst[i*stride].set(&raw, lanes)
	}
}

func (p *Packed) set(raw *[dllama.Q80Block]byte, lanes bool) {
	p.scale = dllama.FromF16(binary.LittleEndian.Uint16(raw[:]))
	var values [block]int8
	sum := int32(0)
	for i, b := range raw[2:] {
		values[i] = int8(b)
		sum += int32(int8(b))
	}
	p.bias = -8 * sum
	if lanes {
		p.arrangeLanes(&values)
		return
	}
	p.arrangeBytes(&values)
}

// arrangeBytes stores the values as bytes, in order, for vector instructions.
func (p *Packed) arrangeBytes(values *[block]int8) {
	for i := range block / 8 {
		var word uint64
		for j := range 8 {
			word |= uint64(uint8(values[8*i+j])) << (8 * j)
		}
		p.words[i] = word
	}
}

// arrangeLanes stores the values in an order that allows multiplying them with a
// q40 block four at a time, for dotLanes.
//
// The 16-bit lanes of one word hold four nibbles a0..a3, those of another word
// four activations x3..x0, in opposite order. The top lane of the product of
// both words is then a0*x0 + a1*x1 + a2*x2 + a3*x3; higher terms overflow and
// vanish. Lanes are signed; dotLanes compensates borrows between lanes by
// rounding.
func (p *Packed) arrangeLanes(values *[block]int8) {
	for half := range 2 {
		for part := range 4 {
			// Part 0 to 3 of a q40 word: low and high nibbles of its even
			// bytes, low and high nibbles of its odd bytes.
			first := 8*half + 16*(part&1) + part>>1
			var word uint64
			for lane := range 4 {
				word += uint64(int64(values[first+2*lane])) << (16 * (3 - lane))
			}
			p.words[4*half+part] = word
		}
	}
}

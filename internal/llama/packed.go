package llama

import (
	"encoding/binary"

	"github.com/gorizond/koldun/internal/formats/dllama"
	"github.com/gorizond/koldun/internal/topology"
)

// block is the number of values with one scale.
const block = topology.Block

// A packed is a block of 32 activations rounded to q80, in an order that allows
// multiplying it with a q40 block four values at a time.
//
// The 16-bit lanes of one word hold four nibbles a0..a3, those of another word
// four activations x3..x0, in opposite order. The top lane of the product of
// both words is then a0*x0 + a1*x1 + a2*x2 + a3*x3; higher terms overflow and
// vanish. Lanes are signed; dotLanes compensates borrows between lanes by
// rounding.
type packed struct {
	lanes [8]uint64
	scale float32 // as stored in q80: rounded to binary16
	bias  int32   // 8 times the sum of the values: q40 nibbles are 8 too large
}

// pack rounds src to q80 into dst. len(src) must be 32 * len(dst).
func pack(dst []packed, src []float32) {
	var raw [dllama.Q80Block]byte
	for i := range dst {
		dllama.EncodeQ80(&raw, (*[block]float32)(src[i*block:]))
		dst[i].set(&raw)
	}
}

func (p *packed) set(raw *[dllama.Q80Block]byte) {
	p.scale = dllama.FromF16(binary.LittleEndian.Uint16(raw[:]))
	sum := int32(0)
	for _, b := range raw[2:] {
		sum += int32(int8(b))
	}
	p.bias = 8 * sum
	for half := range 2 {
		for part := range 4 {
			// Part 0 to 3 of a q40 word: low and high nibbles of its even
			// bytes, low and high nibbles of its odd bytes.
			first := 8*half + 16*(part&1) + part>>1
			var word uint64
			for lane := range 4 {
				v := int64(int8(raw[2+first+2*lane]))
				word += uint64(v) << (16 * (3 - lane))
			}
			p.lanes[4*half+part] = word
		}
	}
}

// addRounded rounds src to q80 and adds it to dst. distributed-llama passes
// partial results between nodes as q80, and rounds them with a single node as
// well. The lengths must be the same multiple of 32.
func addRounded(dst, src []float32) {
	var raw [dllama.Q80Block]byte
	var back [block]float32
	for i := 0; i < len(src); i += block {
		dllama.EncodeQ80(&raw, (*[block]float32)(src[i:]))
		dllama.DecodeQ80(&back, &raw)
		d := (*[block]float32)(dst[i:])
		for j := range back {
			d[j] += back[j]
		}
	}
}

// add adds src to dst. The lengths must be the same.
func add(dst, src []float32) {
	for i, v := range src {
		dst[i] += v
	}
}

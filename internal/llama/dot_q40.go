package llama

import (
	"encoding/binary"

	"github.com/gorizond/koldun/internal/formats/dllama"
)

type q40Block = [dllama.Q40Block]byte

const (
	nibbles = 0x000F000F000F000F // the low nibble of each 16-bit lane
	half    = 1 << 47            // half of the top lane's unit
	topLane = 48
)

// dotQ40 returns the dot product of one row of q40 weights and one vector. It
// multiplies blocks as integers and adds them in order as float32.
//
//go:norace
func dotQ40(row []q40Block, x []packed) float32 {
	var sum float32
	x = x[:len(row)]
	for i := range row {
		w, v := &row[i], &x[i]
		lo, hi := binary.LittleEndian.Uint64(w[2:]), binary.LittleEndian.Uint64(w[10:])
		dot := dotLanes(lo, v.lanes[0], v.lanes[1], v.lanes[2], v.lanes[3])
		dot += dotLanes(hi, v.lanes[4], v.lanes[5], v.lanes[6], v.lanes[7])
		sum += scaled(int32(dot)-v.bias, q40Scale(w), v.scale)
	}
	return sum
}

// dotLanes returns the dot product of the 16 nibbles of w and 16 activations.
// It is at most 16 * 15 * 127, which fits a lane. The lower lanes are at most
// three quarters of that, so that rounding recovers the top lane exactly.
func dotLanes(w, x0, x1, x2, x3 uint64) int64 {
	p := (w&nibbles)*x0 + (w>>4&nibbles)*x1 + (w>>8&nibbles)*x2 + (w>>12&nibbles)*x3
	return int64(p+half) >> topLane
}

// scaled prevents the compiler from fusing the product and the following
// addition, so that results are equal on all machines.
func scaled(dot int32, w, x float32) float32 { return float32(float32(dot) * (w * x)) }

// dot4Q40 computes dotQ40 for four vectors at once, with the same results.
//
//go:norace
func dot4Q40(row []q40Block, x0, x1, x2, x3 []packed) (s0, s1, s2, s3 float32) {
	n := len(row)
	x0, x1, x2, x3 = x0[:n], x1[:n], x2[:n], x3[:n]
	for i := range row {
		w := &row[i]
		lo, hi := binary.LittleEndian.Uint64(w[2:]), binary.LittleEndian.Uint64(w[10:])
		scale := q40Scale(w)
		a0, a1, a2, a3 := lo&nibbles, lo>>4&nibbles, lo>>8&nibbles, lo>>12&nibbles
		b0, b1, b2, b3 := hi&nibbles, hi>>4&nibbles, hi>>8&nibbles, hi>>12&nibbles

		v := &x0[i]
		d := int64(a0*v.lanes[0]+a1*v.lanes[1]+a2*v.lanes[2]+a3*v.lanes[3]+half)>>topLane +
			int64(b0*v.lanes[4]+b1*v.lanes[5]+b2*v.lanes[6]+b3*v.lanes[7]+half)>>topLane
		s0 += scaled(int32(d)-v.bias, scale, v.scale)

		v = &x1[i]
		d = int64(a0*v.lanes[0]+a1*v.lanes[1]+a2*v.lanes[2]+a3*v.lanes[3]+half)>>topLane +
			int64(b0*v.lanes[4]+b1*v.lanes[5]+b2*v.lanes[6]+b3*v.lanes[7]+half)>>topLane
		s1 += scaled(int32(d)-v.bias, scale, v.scale)

		v = &x2[i]
		d = int64(a0*v.lanes[0]+a1*v.lanes[1]+a2*v.lanes[2]+a3*v.lanes[3]+half)>>topLane +
			int64(b0*v.lanes[4]+b1*v.lanes[5]+b2*v.lanes[6]+b3*v.lanes[7]+half)>>topLane
		s2 += scaled(int32(d)-v.bias, scale, v.scale)

		v = &x3[i]
		d = int64(a0*v.lanes[0]+a1*v.lanes[1]+a2*v.lanes[2]+a3*v.lanes[3]+half)>>topLane +
			int64(b0*v.lanes[4]+b1*v.lanes[5]+b2*v.lanes[6]+b3*v.lanes[7]+half)>>topLane
		s3 += scaled(int32(d)-v.bias, scale, v.scale)
	}
	return s0, s1, s2, s3
}

package kernel

import (
	"encoding/binary"
)

const (
	nibbles = 0x000F000F000F000F // the low nibble of each 16-bit lane
	half    = 1 << 47            // half of the top lane's unit
	topLane = 48
)

// portableQ40 computes rows of any number, four vectors at a time.
func portableQ40(m q40Product, lo, hi int) {
	for r := lo; r < hi; r++ {
		row, out, t := m.row(r), m.out[r:], 0
		for ; t+4 <= m.n; t += 4 {
			out[t*m.stride], out[(t+1)*m.stride], out[(t+2)*m.stride], out[(t+3)*m.stride] = dot4Q40(row, m.x[t:], m.n)
		}
		for ; t < m.n; t++ {
			out[t*m.stride] = dotQ40(row, m.x[t:], m.n)
		}
	}
}

// dotQ40 returns the dot product of one row of q40 weights and the vector of
// which x has every nth block. It multiplies blocks as integers and adds them in
// order as float32.
//
// The kernel disables the race detector, which would make a call for each
// element. Other functions write the memory that workers share.
//
//go:norace
func dotQ40(row []Q40Block, x []Packed, n int) float32 {
	var sum float32
	for i := range row {
		w, v := &row[i], &x[i*n]
		lo, hi := binary.LittleEndian.Uint64(w[2:]), binary.LittleEndian.Uint64(w[10:])
		dot := dotLanes(lo, v.words[0], v.words[1], v.words[2], v.words[3])
		dot += dotLanes(hi, v.words[4], v.words[5], v.words[6], v.words[7])
		sum += scaled(int32(dot)+v.bias, q40Scale(w), v.scale)
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

// dot4Q40 computes dotQ40 for four vectors that follow each other, with the same
// results.
//
//go:norace
func dot4Q40(row []Q40Block, x []Packed, n int) (s0, s1, s2, s3 float32) {
	for i := range row {
		w, x := &row[i], (*[4]Packed)(x[i*n:])
		lo, hi := binary.LittleEndian.Uint64(w[2:]), binary.LittleEndian.Uint64(w[10:])
		scale := q40Scale(w)
		a0, a1, a2, a3 := lo&nibbles, lo>>4&nibbles, lo>>8&nibbles, lo>>12&nibbles
		b0, b1, b2, b3 := hi&nibbles, hi>>4&nibbles, hi>>8&nibbles, hi>>12&nibbles

		v := &x[0]
		d := int64(a0*v.words[0]+a1*v.words[1]+a2*v.words[2]+a3*v.words[3]+half)>>topLane +
			int64(b0*v.words[4]+b1*v.words[5]+b2*v.words[6]+b3*v.words[7]+half)>>topLane
		s0 += scaled(int32(d)+v.bias, scale, v.scale)

		v = &x[1]
		d = int64(a0*v.words[0]+a1*v.words[1]+a2*v.words[2]+a3*v.words[3]+half)>>topLane +
			int64(b0*v.words[4]+b1*v.words[5]+b2*v.words[6]+b3*v.words[7]+half)>>topLane
		s1 += scaled(int32(d)+v.bias, scale, v.scale)

		v = &x[2]
		d = int64(a0*v.words[0]+a1*v.words[1]+a2*v.words[2]+a3*v.words[3]+half)>>topLane +
			int64(b0*v.words[4]+b1*v.words[5]+b2*v.words[6]+b3*v.words[7]+half)>>topLane
		s2 += scaled(int32(d)+v.bias, scale, v.scale)

		v = &x[3]
		d = int64(a0*v.words[0]+a1*v.words[1]+a2*v.words[2]+a3*v.words[3]+half)>>topLane +
			int64(b0*v.words[4]+b1*v.words[5]+b2*v.words[6]+b3*v.words[7]+half)>>topLane
		s3 += scaled(int32(d)+v.bias, scale, v.scale)
	}
	return s0, s1, s2, s3
}

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// vectors is a size of vector registers.
type vectors struct {
	name  string
	new   func() VecVirtual
	bytes int
}

var (
	ymm = vectors{"AVX2", func() VecVirtual { return YMM() }, 32}
	zmm = vectors{"AVX512", func() VecVirtual { return ZMM() }, 64}
)

func (v vectors) zero(r VecVirtual) {
	if v.bytes == 64 {
		VPXORD(r, r, r)
		return
	}
	VXORPS(r, r, r)
}

// ahead is the distance in bytes at which a kernel for one row prefetches: half a
// page of memory, at the ends of which the processor's own prefetching stops.
const ahead = 2048

// f32Tile writes the kernel that multiplies four rows, or one, with some vectors
// of the same width. It reads the first k values of each, a multiple of 16, and
// writes out[t*stride+row]. Each product of two vectors is added up in the same order,
// whatever the number of rows and vectors: lane by lane, then halves of lanes.
func f32Tile(v vectors, height, n int) {
	TEXT(fmt.Sprintf("f32%s%dx%d", v.name, height, n), NOSPLIT, "func(w, x *float32, width, k int, out *float32, stride int)")
	w := Load(Param("w"), GP64())
	x := Load(Param("x"), GP64())
	distance := Load(Param("width"), GP64())
	k := Load(Param("k"), GP64())
	out := Load(Param("out"), GP64())
	stride := Load(Param("stride"), GP64())
	SHLQ(Imm(2), distance)
	SHLQ(Imm(2), stride)
	a, b := newRows(w, distance, 4), newRows(x, distance, 4)
	next := GP64()
	LEAQ(Mem{Base: w, Index: distance, Scale: 4}, next)

	sums := make([][]VecVirtual, n)
	for t := range sums {
		sums[t] = make([]VecVirtual, height)
		for i := range sums[t] {
			sums[t][i] = v.new()
			v.zero(sums[t][i])
		}
	}
	Label("step")
	if height > 1 {
		prefetch(next, height*v.bytes, true)
	} else {
		PREFETCHT1(a.at(0, ahead))
	}
	values := make([]VecVirtual, height)
	for i := range values {
		values[i] = v.new()
		VMOVUPS(a.at(i, 0), values[i])
	}
	for t := range n {
		if height == 1 {
			VFMADD231PS(b.at(t, 0), values[0], sums[t][0])
			continue
		}
		y := v.new()
		VMOVUPS(b.at(t, 0), y)
		for i := range height {
			VFMADD231PS(values[i], y, sums[t][i])
		}
	}
	a.advance(v.bytes)
	b.advance(v.bytes)
	SUBQ(Imm(uint64(v.bytes/4)), k)
	JNZ(LabelRef("step"))

	for t := range n {
		total := totals(v, sums[t])
		if height == 1 {
			VMOVSS(total, Mem{Base: out})
		} else {
			VMOVUPS(total, Mem{Base: out})
		}
		if t < n-1 {
			ADDQ(stride, out)
		}
	}
	VZEROUPPER()
	RET()
}

// totals adds the lanes of each of four sums, or of one.
func totals(v vectors, sums []VecVirtual) VecVirtual {
	for i, s := range sums {
		if v.bytes == 64 {
			upper := YMM()
			VEXTRACTF64X4(Imm(1), s, upper)
			VADDPS(upper, s.AsY(), s.AsY())
		}
		sums[i] = s.AsY().(VecVirtual)
	}
	at := func(i int) VecVirtual { return sums[i%len(sums)] }
	ab, cd := YMM(), YMM()
	VHADDPS(at(1), at(0), ab)
	VHADDPS(at(3), at(2), cd)
	VHADDPS(cd, ab, ab)
	upper := XMM()
	VEXTRACTF128(Imm(1), ab, upper)
	VADDPS(upper, ab.AsX(), ab.AsX())
	return ab.AsX().(VecVirtual)
}

// mix writes the kernel that adds n rows, each times its weight, to columns of dst,
// as many as four vectors of 16 values have or one.
func mix(v vectors, columns int) {
	TEXT(fmt.Sprintf("mix%s%d", v.name, columns), NOSPLIT, "func(dst, weights, rows *float32, n, width int)")
	dst := Load(Param("dst"), GP64())
	weights := Load(Param("weights"), GP64())
	rows := Load(Param("rows"), GP64())
	n := Load(Param("n"), GP64())
	width := Load(Param("width"), GP64())
	SHLQ(Imm(2), width)
	sums := make([]VecVirtual, 4*columns/v.bytes)
	for i := range sums {
		sums[i] = v.new()
		VMOVUPS(Mem{Base: dst, Disp: i * v.bytes}, sums[i])
	}
	Label("row")
	weight := v.new()
	VBROADCASTSS(Mem{Base: weights}, weight)
	for i, s := range sums {
		VFMADD231PS(Mem{Base: rows, Disp: i * v.bytes}, weight, s)
	}
	ADDQ(Imm(4), weights)
	ADDQ(width, rows)
	DECQ(n)
	JNZ(LabelRef("row"))
	for i, s := range sums {
		VMOVUPS(s, Mem{Base: dst, Disp: i * v.bytes})
	}
	VZEROUPPER()
	RET()
}

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// q40VNNI writes the kernel of 16 rows for AVX-512 with VNNI.
func q40VNNI(name string) {
	var mask VecVirtual
	q40Kernel(name, q40Lanes{
		rows:   16,
		vector: func() VecVirtual { return ZMM() },
		clear:  func(zero VecVirtual) { VPXORD(zero, zero, zero) },
		begin: func() {
			var constant GPVirtual
			mask, constant = ZMM(), GP32()
			MOVL(Imm(low), constant)
			VPBROADCASTD(constant, mask)
		},
		unpack:  func(r rows) ([]VecVirtual, VecVirtual) { return unpack16(r, mask) },
		product: product16,
	})
}

// unpack16 returns the nibbles of a block of 16 rows, four values of each row
// per vector, and their scales.
func unpack16(r rows, mask VecVirtual) (weights []VecVirtual, scale VecVirtual) {
	zmm := func() VecVirtual { return ZMM() }
	v := make([]VecVirtual, 4)
	for i := range v {
		v[i] = ZMM()
		VMOVDQU(r.at(i, nibbleBytes), v[i].AsX())
		VINSERTI128(Imm(1), r.at(4+i, nibbleBytes), v[i].AsY(), v[i].AsY())
		VINSERTI32X4(Imm(2), r.at(8+i, nibbleBytes), v[i], v[i])
		VINSERTI32X4(Imm(3), r.at(12+i, nibbleBytes), v[i], v[i])
	}
	dwords := transpose(v, zmm)
	for _, d := range dwords {
		lo := ZMM()
		VPANDD(mask, d, lo)
		weights = append(weights, lo)
	}
	for _, d := range dwords {
		hi := ZMM()
		VPSRLD(Imm(4), d, hi)
		VPANDD(mask, hi, hi)
		weights = append(weights, hi)
	}
	a, b := XMM(), XMM()
	r.halves(0, a)
	r.halves(8, b)
	both := YMM()
	VINSERTI128(Imm(1), b, a.AsY(), both)
	s := ZMM()
	VCVTPH2PS(both, s)
	return weights, s
}

// product16 multiplies a block of 16 rows with a block of activations.
func product16(weights []VecVirtual, scale VecVirtual, x Register) VecVirtual {
	dot, s := ZMM(), ZMM()
	VPBROADCASTD(Mem{Base: x, Disp: packedBias}, dot)
	for i, v := range weights {
		VPDPBUSD_BCST(Mem{Base: x, Disp: 4 * i}, v, dot)
	}
	VMULPS_BCST(Mem{Base: x, Disp: packedScale}, scale, s)
	VCVTDQ2PS(dot, dot)
	VMULPS(s, dot, dot)
	return dot
}

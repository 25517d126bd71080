package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// q40AVX2 writes the kernel of 8 rows for AVX2.
func q40AVX2(name string) {
	ones := constantYMM("ones", 0x00010001)
	mask := constantYMM("nibbles", low)
	q40Kernel(name, q40Lanes{
		rows:   8,
		vector: func() VecVirtual { return YMM() },
		clear:  func(zero VecVirtual) { VPXOR(zero, zero, zero) },
		begin:  func() {},
		unpack: func(r rows) ([]VecVirtual, VecVirtual) { return unpack8(r, mask) },
		product: func(weights []VecVirtual, scale VecVirtual, x Register) VecVirtual {
			return product8(weights, scale, x, ones)
		},
	})
}

// constantYMM is a constant of eight equal dwords.
func constantYMM(name string, dword uint32) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(dword))
	}
	return m
}

// unpack8 is unpack16 for 8 rows.
func unpack8(r rows, mask Mem) (weights []VecVirtual, scale VecVirtual) {
	ymm := func() VecVirtual { return YMM() }
	v := make([]VecVirtual, 4)
	for i := range v {
		v[i] = YMM()
		VMOVDQU(r.at(i, nibbleBytes), v[i].AsX())
		VINSERTI128(Imm(1), r.at(4+i, nibbleBytes), v[i], v[i])
	}
	dwords := transpose(v, ymm)
	for _, d := range dwords {
		lo := YMM()
		VPAND(mask, d, lo)
		weights = append(weights, lo)
	}
	for _, d := range dwords {
		VPSRLD(Imm(4), d, d)
		VPAND(mask, d, d)
		weights = append(weights, d)
	}
	h, s := XMM(), YMM()
	r.halves(0, h)
	VCVTPH2PS(h, s)
	return weights, s
}

// product8 multiplies a block of 8 rows with a block of activations. Products of
// nibbles and activations add up to 8 * 2 * 15 * 127, which fits 16 bits.
func product8(weights []VecVirtual, scale VecVirtual, x Register, ones Mem) VecVirtual {
	dot := YMM()
	for i, v := range weights {
		four := YMM()
		VPBROADCASTD(Mem{Base: x, Disp: 4 * i}, four)
		if i == 0 {
			VPMADDUBSW(four, v, dot)
			continue
		}
		VPMADDUBSW(four, v, four)
		VPADDW(four, dot, dot)
	}
	VPMADDWD(ones, dot, dot)
	bias, s := YMM(), YMM()
	VPBROADCASTD(Mem{Base: x, Disp: packedBias}, bias)
	VPADDD(bias, dot, dot)
	VBROADCASTSS(Mem{Base: x, Disp: packedScale}, s)
	VMULPS(scale, s, s)
	VCVTDQ2PS(dot, dot)
	VMULPS(s, dot, dot)
	return dot
}

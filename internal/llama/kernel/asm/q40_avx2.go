package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// q40AVX2 writes the kernel of 8 rows for AVX2. Each lane is a row, and the sums
// are in memory.
func q40AVX2(name string) {
	ones := constantYMM("ones", 0x00010001)
	mask := constantYMM("nibbles", low)

	TEXT(name, NOSPLIT, q40Signature)
	w := Load(Param("w"), GP64())
	blocks := Load(Param("blocks"), GP64())
	x := Load(Param("x"), GP64())
	n := Load(Param("n"), GP64())
	skip := Load(Param("skip"), GP64())
	sums := Load(Param("sums"), GP64())
	distance := GP64()
	IMUL3Q(Imm(blockBytes), blocks, distance)
	r := newRows(w, distance, 8)
	next := r.ahead(w, 8)

	t, o := GP64(), GP64()
	zero := YMM()
	VPXOR(zero, zero, zero)
	MOVQ(n, t)
	MOVQ(sums, o)
	Label("clear")
	VMOVUPS(zero, Mem{Base: o})
	ADDQ(Imm(32), o)
	DECQ(t)
	JNZ(LabelRef("clear"))

	Label("block")
	prefetch(next, 8*blockBytes, false)
	weights, scale := unpack8(r, mask)
	MOVQ(n, t)
	MOVQ(sums, o)
	Label("vector")
	product := product8(weights, scale, x, ones)
	VADDPS(Mem{Base: o}, product, product)
	VMOVUPS(product, Mem{Base: o})
	ADDQ(Imm(packedBytes), x)
	ADDQ(Imm(32), o)
	DECQ(t)
	JNZ(LabelRef("vector"))
	ADDQ(skip, x)
	r.advance(blockBytes)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
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

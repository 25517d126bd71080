package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const blockValues = 32

// rounding holds the constants that rounding to q80 needs.
type rounding struct{ magnitude, most, one, limit Mem }

func newRounding() rounding {
	return rounding{
		magnitude: constantYMM("magnitude", 0x7fffffff),
		most:      constantYMM("most", 0x42fe0000),  // 127
		one:       constantYMM("one", 0x3f800000),   // 1
		limit:     constantYMM("limit", 0x43800000), // 256
	}
}

// round returns 32 values as integers, and their scale in all lanes, with the
// bits of dllama.EncodeQ80.
func (c rounding) round(src Register) (values []VecVirtual, scale VecVirtual) {
	x := make([]VecVirtual, 4)
	top := YMM()
	for i := range x {
		x[i] = YMM()
		VMOVUPS(Mem{Base: src, Disp: 32 * i}, x[i])
		a := YMM()
		VANDPS(c.magnitude, x[i], a)
		if i == 0 {
			top = a
			continue
		}
		VPMAXUD(a, top, top) // the bits of magnitudes order as they do; those of NaN are above
	}
	swapped := YMM()
	VPERM2I128(Imm(1), top, top, swapped)
	VPMAXUD(swapped, top, top)
	for _, order := range []uint64{0x4e, 0xb1} {
		VPSHUFD(Imm(order), top, swapped)
		VPMAXUD(swapped, top, top)
	}
	d, inverse, nonzero := YMM(), YMM(), YMM()
	VDIVPS(c.most, top, d)
	VMOVUPS(c.one, inverse)
	VDIVPS(d, inverse, inverse)
	VXORPS(nonzero, nonzero, nonzero)
	VCMPPS(Imm(4), nonzero, d, nonzero) // not equal
	VANDPS(nonzero, inverse, inverse)
	for _, v := range x {
		VMULPS(inverse, v, v)
		small := YMM()
		VANDPS(c.magnitude, v, small)
		VCMPPS(Imm(1), c.limit, small, small) // less
		VCVTPS2DQ(v, v)
		VPAND(small, v, v)
	}
	h := XMM()
	VCVTPS2PH(Imm(0), d, h)
	VCVTPH2PS(h, d)
	return x, d
}

// pack writes the kernel that rounds values to q80 into Packed blocks at a
// distance in bytes.
func pack(c rounding) {
	ones8, ones16 := constantYMM("ones8", 0x01010101), constantYMM("ones16", 0x00010001)
	order := GLOBL("order", RODATA|NOPTR)
	for i, dword := range []uint32{0, 4, 1, 5, 2, 6, 3, 7} {
		DATA(4*i, U32(dword))
	}
	TEXT("packAVX2", NOSPLIT, "func(dst *byte, distance int, src *float32, blocks int)")
	dst := Load(Param("dst"), GP64())
	distance := Load(Param("distance"), GP64())
	src := Load(Param("src"), GP64())
	blocks := Load(Param("blocks"), GP64())
	Label("block")
	v, scale := c.round(src)
	VPACKSSDW(v[1], v[0], v[0])
	VPACKSSDW(v[3], v[2], v[2])
	VPACKSSWB(v[2], v[0], v[0])
	sorted, sum := YMM(), YMM()
	VMOVDQU(order, sorted)
	VPERMD(v[0], sorted, v[0])
	VMOVDQU(v[0], Mem{Base: dst})
	VMOVSS(scale.AsX(), Mem{Base: dst, Disp: packedScale})
	VMOVDQU(ones8, sum)
	VPMADDUBSW(v[0], sum, sum)
	VPMADDWD(ones16, sum, sum)
	upper := XMM()
	VEXTRACTI128(Imm(1), sum, upper)
	VPADDD(upper, sum.AsX(), sum.AsX())
	for _, order := range []uint64{0x4e, 0xb1} {
		VPSHUFD(Imm(order), sum.AsX(), upper)
		VPADDD(upper, sum.AsX(), sum.AsX())
	}
	VPSLLD(Imm(3), sum.AsX(), sum.AsX())
	VPXOR(upper, upper, upper)
	VPSUBD(sum.AsX(), upper, upper)
	VMOVD(upper, Mem{Base: dst, Disp: packedBias})
	ADDQ(distance, dst)
	ADDQ(Imm(4*blockValues), src)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// addRounded writes the kernel that adds values rounded to q80.
func addRounded(c rounding) {
	TEXT("addRoundedAVX2", NOSPLIT, "func(dst, src *float32, blocks int)")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	blocks := Load(Param("blocks"), GP64())
	Label("block")
	values, scale := c.round(src)
	for i, v := range values {
		VCVTDQ2PS(v, v)
		VMULPS(scale, v, v)
		VADDPS(Mem{Base: dst, Disp: 32 * i}, v, v)
		VMOVUPS(v, Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(Imm(4*blockValues), dst)
	ADDQ(Imm(4*blockValues), src)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

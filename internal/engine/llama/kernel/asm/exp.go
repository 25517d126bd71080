package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// exponential holds the constants of e^x: 2^n times a polynomial of the rest
// (Cephes, expf), whose error is below 2^-22.
type exponential struct {
	least, most, log2e, high, low, bias Mem
	terms                               []Mem // from the highest power on
}

func newExponential() exponential {
	real := func(name string, v float64) Mem { return constantYMM(name, math.Float32bits(float32(v))) }
	e := exponential{
		least: real("expLeast", -104), most: real("expMost", 89), // 0 and infinite
		log2e: real("expLog2e", math.Log2E), high: real("expHigh", 0.693359375), low: real("expLow", -2.12194440e-4),
		bias: constantYMM("expBias", 127),
	}
	for i, v := range []float64{1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, 1, 1} {
		e.terms = append(e.terms, real(fmt.Sprintf("expTerm%d", i), v))
	}
	return e
}

// of replaces x by e^x.
func (e exponential) of(x VecVirtual) {
	n, p, scale, half := YMM(), YMM(), YMM(), YMM()
	VMOVUPS(e.least, p)
	VMAXPS(x, p, x) // the second operand, if one is no number
	VMOVUPS(e.most, p)
	VMINPS(x, p, x)
	VMULPS(e.log2e, x, n)
	VROUNDPS(Imm(8), n, n)
	VFNMADD231PS(e.high, n, x)
	VFNMADD231PS(e.low, n, x)
	VMOVUPS(e.terms[0], p)
	for _, term := range e.terms[1:] {
		VFMADD213PS(term, x, p)
	}
	// Times 2^n in two steps: the power itself may be out of range.
	VCVTPS2DQ(n, n)
	VPSRAD(Imm(1), n, half)
	VPSUBD(half, n, n)
	for _, power := range []VecVirtual{half, n} {
		VPADDD(e.bias, power, scale)
		VPSLLD(Imm(23), scale, scale)
		VMULPS(scale, p, p)
	}
	VMOVAPS(p, x)
}

// expSum writes the kernel that replaces n values, a multiple of 8, by e^(x-top)
// and sets eight sums.
func expSum(e exponential) {
	TEXT("expSumAVX2", NOSPLIT, "func(x *float32, n int, top float32, sums *float32)")
	x := Load(Param("x"), GP64())
	n := Load(Param("n"), GP64())
	topX := Load(Param("top"), XMM())
	sums := Load(Param("sums"), GP64())
	top, total := YMM(), YMM()
	VBROADCASTSS(topX, top)
	VXORPS(total, total, total)
	Label("step")
	v := YMM()
	VMOVUPS(Mem{Base: x}, v)
	VSUBPS(top, v, v)
	e.of(v)
	VMOVUPS(v, Mem{Base: x})
	VADDPS(v, total, total)
	ADDQ(Imm(32), x)
	SUBQ(Imm(8), n)
	JNZ(LabelRef("step"))
	VMOVUPS(total, Mem{Base: sums})
	VZEROUPPER()
	RET()
}

// silu writes the kernel that sets n values, a multiple of 8, of gate to
// gate / (1 + e^-gate) * up.
func silu(e exponential, one Mem) {
	sign := constantYMM("sign", 0x80000000)
	TEXT("siluAVX2", NOSPLIT, "func(gate, up *float32, n int)")
	gate := Load(Param("gate"), GP64())
	up := Load(Param("up"), GP64())
	n := Load(Param("n"), GP64())
	Label("step")
	a, v := YMM(), YMM()
	VMOVUPS(Mem{Base: gate}, a)
	VXORPS(sign, a, v)
	e.of(v)
	VADDPS(one, v, v)
	VDIVPS(v, a, v)
	VMULPS(Mem{Base: up}, v, v)
	VMOVUPS(v, Mem{Base: gate})
	ADDQ(Imm(32), gate)
	ADDQ(Imm(32), up)
	SUBQ(Imm(8), n)
	JNZ(LabelRef("step"))
	VZEROUPPER()
	RET()
}

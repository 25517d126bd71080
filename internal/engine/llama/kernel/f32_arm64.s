#include "textflag.h"

// Instructions that Go's assembler does not have, on vectors of four float32s.
#define FADDP(d, n, m) WORD $(0x6e20d400 | (m)<<16 | (n)<<5 | (d))

// ZERO4 clears four sums, and ROWS adds the products of one vector and the values
// of four rows, V24 to V27, to them.
#define ZERO4(a, b, c, d) \
	VEOR a.B16, a.B16, a.B16 \
	VEOR b.B16, b.B16, b.B16 \
	VEOR c.B16, c.B16, c.B16 \
	VEOR d.B16, d.B16, d.B16

#define ROWS(x, a, b, c, d) \
	VFMLA V24.S4, x.S4, a.S4 \
	VFMLA V25.S4, x.S4, b.S4 \
	VFMLA V26.S4, x.S4, c.S4 \
	VFMLA V27.S4, x.S4, d.S4

// ARGUMENTS loads those of a product: rows at R0 to R3, and the first vector at R4.
#define ARGUMENTS \
	MOVD w+0(FP), R0 \
	MOVD x+8(FP), R4 \
	MOVD width+16(FP), R8 \
	MOVD k+24(FP), R9 \
	MOVD out+32(FP), R10 \
	MOVD stride+40(FP), R11 \
	LSL $2, R8, R8 \
	LSL $2, R11, R11 \
	ADD R8, R0, R1 \
	ADD R8, R1, R2 \
	ADD R8, R2, R3

// func f32NEON4x4(w, x *float32, width, k int, out *float32, stride int)
TEXT ·f32NEON4x4(SB), NOSPLIT, $0-48
	ARGUMENTS
	ADD R8, R4, R5
	ADD R8, R5, R6
	ADD R8, R6, R7
	ZERO4(V0, V1, V2, V3)
	ZERO4(V4, V5, V6, V7)
	ZERO4(V16, V17, V18, V19)
	ZERO4(V20, V21, V22, V23)

step:
	VLD1.P 16(R0), [V24.S4]
	VLD1.P 16(R1), [V25.S4]
	VLD1.P 16(R2), [V26.S4]
	VLD1.P 16(R3), [V27.S4]
	VLD1.P 16(R4), [V28.S4]
	VLD1.P 16(R5), [V29.S4]
	VLD1.P 16(R6), [V30.S4]
	VLD1.P 16(R7), [V31.S4]
	ROWS(V28, V0, V1, V2, V3)
	ROWS(V29, V4, V5, V6, V7)
	ROWS(V30, V16, V17, V18, V19)
	ROWS(V31, V20, V21, V22, V23)
	SUBS   $4, R9
	BNE    step
	FADDP(0, 0, 1)
	FADDP(2, 2, 3)
	FADDP(0, 0, 2)
	VST1   [V0.S4], (R10)
	ADD    R11, R10
	FADDP(4, 4, 5)
	FADDP(6, 6, 7)
	FADDP(4, 4, 6)
	VST1   [V4.S4], (R10)
	ADD    R11, R10
	FADDP(16, 16, 17)
	FADDP(18, 18, 19)
	FADDP(16, 16, 18)
	VST1   [V16.S4], (R10)
	ADD    R11, R10
	FADDP(20, 20, 21)
	FADDP(22, 22, 23)
	FADDP(20, 20, 22)
	VST1   [V20.S4], (R10)
	RET

// func f32NEON4x1(w, x *float32, width, k int, out *float32, stride int)
TEXT ·f32NEON4x1(SB), NOSPLIT, $0-48
	ARGUMENTS
	ZERO4(V0, V1, V2, V3)

step:
	VLD1.P 16(R0), [V24.S4]
	VLD1.P 16(R1), [V25.S4]
	VLD1.P 16(R2), [V26.S4]
	VLD1.P 16(R3), [V27.S4]
	VLD1.P 16(R4), [V28.S4]
	ROWS(V28, V0, V1, V2, V3)
	SUBS   $4, R9
	BNE    step
	FADDP(0, 0, 1)
	FADDP(2, 2, 3)
	FADDP(0, 0, 2)
	VST1   [V0.S4], (R10)
	RET

// func f32NEON1x1(w, x *float32, width, k int, out *float32, stride int)
TEXT ·f32NEON1x1(SB), NOSPLIT, $0-48
	ARGUMENTS
	VEOR V0.B16, V0.B16, V0.B16

step:
	VLD1.P 16(R0), [V24.S4]
	VLD1.P 16(R4), [V28.S4]
	VFMLA  V24.S4, V28.S4, V0.S4
	SUBS   $4, R9
	BNE    step
	FADDP(0, 0, 0)
	FADDP(0, 0, 0)
	FMOVS  F0, (R10)
	RET

// WEIGHTED adds 16 columns of a row at R5, times the weight in V28.
#define WEIGHTED(a, b, c, d) \
	VLD1.P 64(R5), [V24.S4, V25.S4, V26.S4, V27.S4] \
	VFMLA V24.S4, V28.S4, a.S4 \
	VFMLA V25.S4, V28.S4, b.S4 \
	VFMLA V26.S4, V28.S4, c.S4 \
	VFMLA V27.S4, V28.S4, d.S4

// func mixNEON64(dst, weights, rows *float32, n, width int)
TEXT ·mixNEON64(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD weights+8(FP), R1
	MOVD rows+16(FP), R2
	MOVD n+24(FP), R3
	MOVD width+32(FP), R4
	LSL  $2, R4, R4
	VLD1.P 64(R0), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1.P 64(R0), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R0), [V16.S4, V17.S4, V18.S4, V19.S4]
	VLD1.P 64(R0), [V20.S4, V21.S4, V22.S4, V23.S4]
	MOVD   dst+0(FP), R0

row:
	MOVWU.P 4(R1), R6
	VDUP    R6, V28.S4
	MOVD    R2, R5
	WEIGHTED(V0, V1, V2, V3)
	WEIGHTED(V4, V5, V6, V7)
	WEIGHTED(V16, V17, V18, V19)
	WEIGHTED(V20, V21, V22, V23)
	ADD     R4, R2
	SUBS    $1, R3
	BNE     row
	VST1.P  [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	VST1.P  [V4.S4, V5.S4, V6.S4, V7.S4], 64(R0)
	VST1.P  [V16.S4, V17.S4, V18.S4, V19.S4], 64(R0)
	VST1.P  [V20.S4, V21.S4, V22.S4, V23.S4], 64(R0)
	RET

// func mixNEON16(dst, weights, rows *float32, n, width int)
TEXT ·mixNEON16(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD weights+8(FP), R1
	MOVD rows+16(FP), R2
	MOVD n+24(FP), R3
	MOVD width+32(FP), R4
	LSL  $2, R4, R4
	VLD1 (R0), [V0.S4, V1.S4, V2.S4, V3.S4]

row:
	MOVWU.P 4(R1), R6
	VDUP    R6, V28.S4
	MOVD    R2, R5
	WEIGHTED(V0, V1, V2, V3)
	ADD     R4, R2
	SUBS    $1, R3
	BNE     row
	VST1    [V0.S4, V1.S4, V2.S4, V3.S4], (R0)
	RET

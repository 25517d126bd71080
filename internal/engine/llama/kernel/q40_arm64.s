#include "textflag.h"

// Instructions that Go's assembler does not have, on vectors of four 32-bit lanes.
#define SDOT(d, n, m, i) WORD $(0x4f80e000 | ((i)&1)<<21 | (m)<<16 | ((i)>>1)<<11 | (n)<<5 | (d))
#define SCVTF(d, n) WORD $(0x4e21d800 | (n)<<5 | (d))
#define FMUL(d, n, m) WORD $(0x6e20dc00 | (m)<<16 | (n)<<5 | (d))
#define FADD(d, n, m) WORD $(0x4e20d400 | (m)<<16 | (n)<<5 | (d))
#define FCVTL(d, n) WORD $(0x0e217800 | (n)<<5 | (d))

// func q40NEON(w *byte, blocks int, x *Packed, n, skip int, sums *float32)
//
// Each lane is a row. V16 to V23 hold the nibbles of a block of four rows, four
// values of each row per vector, and V24 their scales.
TEXT ·q40NEON(SB), NOSPLIT, $0-48
	MOVD w+0(FP), R0
	MOVD blocks+8(FP), R4
	MOVD x+16(FP), R5
	MOVD n+24(FP), R6
	MOVD skip+32(FP), R7
	MOVD sums+40(FP), R8
	MOVD $18, R9
	MUL  R4, R9, R9
	ADD  R9, R0, R1
	ADD  R9, R1, R2
	ADD  R9, R2, R3
	VMOVI $15, V31.B16

	VEOR V0.B16, V0.B16, V0.B16
	MOVD R6, R10
	MOVD R8, R11

clear:
	VST1.P [V0.S4], 16(R11)
	SUBS   $1, R10
	BNE    clear

block:
	VLD1.P 2(R0), V24.H[0]
	VLD1.P 2(R1), V24.H[1]
	VLD1.P 2(R2), V24.H[2]
	VLD1.P 2(R3), V24.H[3]
	VLD1.P 16(R0), [V0.B16]
	VLD1.P 16(R1), [V1.B16]
	VLD1.P 16(R2), [V2.B16]
	VLD1.P 16(R3), [V3.B16]
	FCVTL(24, 24)
	VZIP1  V1.S4, V0.S4, V4.S4
	VZIP2  V1.S4, V0.S4, V5.S4
	VZIP1  V3.S4, V2.S4, V6.S4
	VZIP2  V3.S4, V2.S4, V7.S4
	VZIP1  V6.D2, V4.D2, V20.D2
	VZIP2  V6.D2, V4.D2, V21.D2
	VZIP1  V7.D2, V5.D2, V22.D2
	VZIP2  V7.D2, V5.D2, V23.D2
	VAND   V31.B16, V20.B16, V16.B16
	VAND   V31.B16, V21.B16, V17.B16
	VAND   V31.B16, V22.B16, V18.B16
	VAND   V31.B16, V23.B16, V19.B16
	VUSHR  $4, V20.B16, V20.B16
	VUSHR  $4, V21.B16, V21.B16
	VUSHR  $4, V22.B16, V22.B16
	VUSHR  $4, V23.B16, V23.B16
	MOVD   R6, R10
	MOVD   R8, R11

vector:
	VLD1  (R5), [V25.B16, V26.B16]
	MOVWU 64(R5), R12
	MOVWU 68(R5), R13
	ADD   $72, R5
	VDUP  R13, V27.S4
	VDUP  R12, V28.S4
	SDOT(27, 16, 25, 0)
	SDOT(27, 17, 25, 1)
	SDOT(27, 18, 25, 2)
	SDOT(27, 19, 25, 3)
	SDOT(27, 20, 26, 0)
	SDOT(27, 21, 26, 1)
	SDOT(27, 22, 26, 2)
	SDOT(27, 23, 26, 3)
	FMUL(28, 28, 24)
	SCVTF(27, 27)
	FMUL(27, 27, 28)
	VLD1  (R11), [V29.S4]
	FADD(29, 29, 27)
	VST1.P [V29.S4], 16(R11)
	SUBS  $1, R10
	BNE   vector
	ADD   R7, R5
	SUBS  $1, R4
	BNE   block
	RET

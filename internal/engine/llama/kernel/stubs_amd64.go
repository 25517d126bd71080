package kernel

// The kernels of kernels_amd64.s, which asm generates. A product of q40 weights
// multiplies 16 or 8 rows with n vectors and sets so many sums for each vector.
// After every n packed blocks it skips some bytes.

//go:noescape
func q40VNNI(w *byte, blocks int, x *Packed, n, skip int, sums *float32)

//go:noescape
func q40AVX2(w *byte, blocks int, x *Packed, n, skip int, sums *float32)

// Products of float32s, of four rows or one with four, two or one vector.

//go:noescape
func f32AVX5124x4(w, x *float32, width, k int, out *float32, stride int)

//go:noescape
func f32AVX5124x1(w, x *float32, width, k int, out *float32, stride int)

//go:noescape
func f32AVX5121x1(w, x *float32, width, k int, out *float32, stride int)

//go:noescape
func f32AVX24x2(w, x *float32, width, k int, out *float32, stride int)

//go:noescape
func f32AVX24x1(w, x *float32, width, k int, out *float32, stride int)

//go:noescape
func f32AVX21x1(w, x *float32, width, k int, out *float32, stride int)

// Sums of weighted rows, which they add to 64 or 16 columns.

//go:noescape
func mixAVX51264(dst, weights, rows *float32, n, width int)

//go:noescape
func mixAVX51216(dst, weights, rows *float32, n, width int)

//go:noescape
func mixAVX264(dst, weights, rows *float32, n, width int)

//go:noescape
func mixAVX216(dst, weights, rows *float32, n, width int)

// Rounding to q80: into Packed blocks at a distance in bytes, and to add.

//go:noescape
func packAVX2(dst *Packed, distance int, src *float32, blocks int)

//go:noescape
func addRoundedAVX2(dst, src *float32, blocks int)

// Functions of n values, a multiple of 8: e^(x-top) and eight sums, and
// gate / (1 + e^-gate) * up.

//go:noescape
func expSumAVX2(x *float32, n int, top float32, sums *float32)

//go:noescape
func siluAVX2(gate, up *float32, n int)

package kernel

// The kernels of q40_arm64.s: four rows of q40 weights with n vectors, which sets
// four sums for each vector. After every n packed blocks it skips some bytes.

//go:noescape
func q40NEON(w *byte, blocks int, x *Packed, n, skip int, sums *float32)

// The kernels of f32_arm64.s: products of float32s, of four rows or one with four
// vectors or one, and sums of weighted rows, 64 or 16 columns.

//go:noescape
func f32NEON4x4(w, x *float32, width, k int, out *float32, stride int)

//go:noescape
func f32NEON4x1(w, x *float32, width, k int, out *float32, stride int)

//go:noescape
func f32NEON1x1(w, x *float32, width, k int, out *float32, stride int)

//go:noescape
func mixNEON64(dst, weights, rows *float32, n, width int)

//go:noescape
func mixNEON16(dst, weights, rows *float32, n, width int)

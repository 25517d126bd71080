// Command asm writes the kernels for amd64 (go generate in the folder above).
package main

import "github.com/mmcloughlin/avo/build"

func main() {
	build.ConstraintExpr("amd64")
	q40VNNI("q40VNNI")
	q40AVX2("q40AVX2")
	f32Tile(zmm, 4, 4)
	f32Tile(ymm, 4, 2)
	for _, v := range []vectors{zmm, ymm} {
		f32Tile(v, 4, 1)
		f32Tile(v, 1, 1)
		mix(v, 64)
		mix(v, 16)
	}
	r, e := newRounding(), newExponential()
	pack(r)
	addRounded(r)
	expSum(e)
	silu(e, r.one)
	build.Generate()
}

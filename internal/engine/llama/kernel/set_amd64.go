package kernel

import "golang.org/x/sys/cpu"

func machineSets() []*Set {
	var sets []*Set
	x := &cpu.X86
	avx2 := x.HasAVX2 && x.HasFMA && x.HasF16C
	if avx2 && x.HasAVX512F && x.HasAVX512VL && x.HasAVX512VNNI {
		sets = append(sets, &Set{
			Name: "avx512-vnni", pack: avx2Pack, q40: vnniQ40, tile: 16,
			f32: f32Tiles{f32AVX5124x4, f32AVX5124x1, f32AVX5121x1, 4, true}.multiply, dot: avx512Dot, mix: mixers{mixAVX51264, mixAVX51216}.mix,
			addRounded: avx2AddRounded, silu: avx2SiLU, expSum: avx2ExpSum,
		})
	}
	if avx2 {
		sets = append(sets, &Set{
			Name: "avx2", pack: avx2Pack, q40: avx2Q40, tile: 8,
			f32: f32Tiles{f32AVX24x2, f32AVX24x1, f32AVX21x1, 2, false}.multiply, dot: avx2Dot, mix: mixers{mixAVX264, mixAVX216}.mix,
			addRounded: avx2AddRounded, silu: avx2SiLU, expSum: avx2ExpSum,
		})
	}
	return sets
}

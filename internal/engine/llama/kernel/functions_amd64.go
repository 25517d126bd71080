package kernel

import "unsafe"

func avx2Pack(dst []Packed, stride int, src []float32) {
	if n := len(src) / block; n > 0 {
		_ = dst[(n-1)*stride]
		packAVX2(&dst[0], stride*int(unsafe.Sizeof(Packed{})), &src[0], n)
	}
}

func avx2AddRounded(dst, src []float32) {
	if n := len(src) / block; n > 0 {
		addRoundedAVX2(&dst[0], &src[0], n)
	}
}

func avx2ExpSum(x []float32, top float32) (sum float32) {
	n := len(x) / 8 * 8
	if n > 0 {
		var sums [8]float32
		expSumAVX2(&x[0], n, top, &sums[0])
		for _, s := range sums {
			sum += s
		}
	}
	return sum + portableExpSum(x[n:], top)
}

func avx2SiLU(gate, up []float32) {
	n := len(gate) / 8 * 8
	if n > 0 {
		siluAVX2(&gate[0], &up[0], n)
	}
	portableSiLU(gate[n:], up[n:])
}

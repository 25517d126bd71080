package kernel

func avx512Dot(a, b []float32) float32 {
	var sum float32
	k := len(a) / lanes * lanes
	if k > 0 {
		f32AVX5121x1(&a[0], &b[0], 0, k, &sum, 0)
	}
	return sum + dotF32(a[k:], b[k:])
}

func avx2Dot(a, b []float32) float32 {
	var sum float32
	k := len(a) / lanes * lanes
	if k > 0 {
		f32AVX21x1(&a[0], &b[0], 0, k, &sum, 0)
	}
	return sum + dotF32(a[k:], b[k:])
}

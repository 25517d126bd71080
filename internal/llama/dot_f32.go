package llama

// The float32 kernels add up even and odd elements apart, and what is left
// over at the end with the even ones. All of them do it alike, so that a
// result does not depend on how many vectors were computed at once. The
// conversions keep the compiler from fusing products with sums, so that all
// machines agree.
//
// Here and in the q40 kernels the race detector is off, under which every
// element would cost a call. What workers share is written in other functions.

// dotF32 is the product of two vectors of the same length.
//
//go:norace
func dotF32(a, b []float32) float32 {
	var even, odd float32
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		v, w := (*[4]float32)(a), (*[4]float32)(b)
		even += float32(v[0] * w[0])
		odd += float32(v[1] * w[1])
		even += float32(v[2] * w[2])
		odd += float32(v[3] * w[3])
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		even += float32(v * b[i])
	}
	return even + odd
}

// dot2F32 is dotF32 of a with two vectors of its length.
//
//go:norace
func dot2F32(a, b, c []float32) (float32, float32) {
	var even0, odd0, even1, odd1 float32
	b, c = b[:len(a)], c[:len(a)]
	for len(a) >= 4 && len(b) >= 4 && len(c) >= 4 {
		v, w, x := (*[4]float32)(a), (*[4]float32)(b), (*[4]float32)(c)
		even0 += float32(v[0] * w[0])
		even1 += float32(v[0] * x[0])
		odd0 += float32(v[1] * w[1])
		odd1 += float32(v[1] * x[1])
		even0 += float32(v[2] * w[2])
		even1 += float32(v[2] * x[2])
		odd0 += float32(v[3] * w[3])
		odd1 += float32(v[3] * x[3])
		a, b, c = a[4:], b[4:], c[4:]
	}
	for i, v := range a {
		even0 += float32(v * b[i])
		even1 += float32(v * c[i])
	}
	return even0 + odd0, even1 + odd1
}

// addScaled adds s * src to dst. The lengths must be the same.
//
//go:norace
func addScaled(dst []float32, s float32, src []float32) {
	dst = dst[:len(src)]
	for len(src) >= 4 && len(dst) >= 4 {
		d, v := (*[4]float32)(dst), (*[4]float32)(src)
		d[0] += float32(s * v[0])
		d[1] += float32(s * v[1])
		d[2] += float32(s * v[2])
		d[3] += float32(s * v[3])
		dst, src = dst[4:], src[4:]
	}
	for i, v := range src {
		dst[i] += float32(s * v)
	}
}

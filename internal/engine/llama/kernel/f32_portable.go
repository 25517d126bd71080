package kernel

// The float32 kernels add even and odd elements separately, and a remaining
// element to the even ones. Both use this order, so that a result does
// not depend on the number of vectors computed at once. The conversions prevent
// the compiler from fusing products and sums, so that results are equal on all
// machines.
//
// The kernels disable the race detector, which would make a call for each
// element. Other functions write the memory that workers share.

// dotF32 returns the dot product of two vectors of the same length.
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

// dot2F32 returns dotF32 of a and two vectors of the same length.
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

// portableF32 computes any rows, two vectors at a time.
func portableF32(m f32Product, lo, hi int) {
	for r := lo; r < hi; r++ {
		row, out, t := m.row(r), m.out[r:], 0
		for ; t+2 <= m.n; t += 2 {
			out[t*m.stride], out[(t+1)*m.stride] = dot2F32(row, m.vector(t), m.vector(t+1))
		}
		if t < m.n {
			out[t*m.stride] = dotF32(row, m.vector(t))
		}
	}
}

func portableMix(dst, weights, rows []float32) { mixColumns(dst, weights, rows, 0) }

// mixColumns computes the columns of Set.Mix from the given one on.
func mixColumns(dst, weights, rows []float32, from int) {
	for t, w := range weights {
		addScaled(dst[from:], w, rows[t*len(dst)+from:(t+1)*len(dst)])
	}
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

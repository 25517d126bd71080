package kernel

func neonQ40(m q40Product, lo, hi int) {
	var sums [batch * 4]float32
	for r := lo; r < hi; r += 4 {
		for t := 0; t < m.n; t += batch {
			n := min(batch, m.n-t)
			q40NEON(&m.weights[r*m.blocks][0], m.blocks, &m.x[t], n, m.skip(n), &sums[0])
			for i := range n {
				*(*[4]float32)(m.out[(t+i)*m.stride+r:]) = *(*[4]float32)(sums[4*i:])
			}
		}
	}
}

func neonDot(a, b []float32) float32 {
	var sum float32
	k := len(a) / lanes * lanes
	if k > 0 {
		f32NEON1x1(&a[0], &b[0], 0, k, &sum, 0)
	}
	return sum + dotF32(a[k:], b[k:])
}

func packBytes(dst []Packed, stride int, src []float32) { portablePack(dst, stride, src, false) }

package kernel

// vnniQ40 leaves single vectors to AVX2: memory limits them, and the 16 rows that
// are read ahead would leave the nearest cache before their turn.
func vnniQ40(m q40Product, lo, hi int) {
	if m.n == 1 {
		avx2Q40(m, lo, hi)
		return
	}
	var sums [batch * 16]float32
	for r := lo; r < hi; r += 16 {
		for t := 0; t < m.n; t += batch {
			n := min(batch, m.n-t)
			q40VNNI(&m.weights[r*m.blocks][0], m.blocks, &m.x[t], n, m.skip(n), &sums[0])
			for i := range n {
				*(*[16]float32)(m.out[(t+i)*m.stride+r:]) = *(*[16]float32)(sums[16*i:])
			}
		}
	}
}

func avx2Q40(m q40Product, lo, hi int) {
	var sums [batch * 8]float32
	for r := lo; r < hi; r += 8 {
		for t := 0; t < m.n; t += batch {
			n := min(batch, m.n-t)
			q40AVX2(&m.weights[r*m.blocks][0], m.blocks, &m.x[t], n, m.skip(n), &sums[0])
			for i := range n {
				*(*[8]float32)(m.out[(t+i)*m.stride+r:]) = *(*[8]float32)(sums[8*i:])
			}
		}
	}
}

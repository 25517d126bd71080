package kernel

// rowOfBytes computes one row with activations that arrangeBytes stored: one of
// the rows that vector instructions leave over.
func (m q40Product) rowOfBytes(r int) {
	row := m.row(r)
	for t := range m.n {
		var sum float32
		for i := range row {
			w, v := &row[i], &m.x[i*m.n+t]
			dot := v.bias
			for j, b := range w[2:] {
				dot += int32(b&15) * v.byteAt(j)
				dot += int32(b>>4) * v.byteAt(j+block/2)
			}
			sum += scaled(dot, q40Scale(w), v.scale)
		}
		m.out[t*m.stride+r] = sum
	}
}

func (p *Packed) byteAt(i int) int32 { return int32(int8(p.words[i/8] >> (8 * (i % 8)))) }

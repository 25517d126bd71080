//go:build amd64 || arm64

package kernel

// lanes is the number of values of which the kernels in assembly compute
// multiples. Portable loops compute the others.
const lanes = 16

// An f32Tile multiplies height rows with a number of vectors.
type f32Tile func(w, x *float32, width, k int, out *float32, stride int)

// f32Tiles are the kernels of an instruction set: for four rows or one, and for
// several vectors or one.
type f32Tiles struct {
	fourMany, fourOne, oneOne f32Tile
	many                      int // vectors of fourMany
	// rowByRow is set if large matrices are faster read row by row for one vector:
	// one stream of addresses gets more of the memory than four.
	rowByRow bool
}

func (k f32Tiles) multiply(m f32Product, lo, hi int) {
	if m.width < lanes {
		portableF32(m, lo, hi)
		return
	}
	r := lo
	for alone := k.rowByRow && m.large && m.n == 1; !alone && r+4 <= hi; r += 4 {
		t := 0
		for ; t+k.many <= m.n; t += k.many {
			m.tile(k.fourMany, r, t)
		}
		for ; t < m.n; t++ {
			m.tile(k.fourOne, r, t)
		}
	}
	for ; r < hi; r++ {
		for t := range m.n {
			m.tile(k.oneOne, r, t)
		}
	}
	if m.width%lanes != 0 {
		m.addRemainder(lo, hi)
	}
}

func (m f32Product) tile(f f32Tile, r, t int) {
	f(&m.weights[r*m.width], &m.x[t*m.width], m.width, m.width/lanes*lanes, &m.out[t*m.stride+r], m.stride)
}

// addRemainder adds the products of the last columns.
func (m f32Product) addRemainder(lo, hi int) {
	from := m.width / lanes * lanes
	for r := lo; r < hi; r++ {
		for t := range m.n {
			m.out[t*m.stride+r] += dotF32(m.row(r)[from:], m.vector(t)[from:])
		}
	}
}

// A mixer computes some columns of Set.Mix.
type mixer func(dst, weights, rows *float32, n, width int)

type mixers struct{ four, one mixer } // of as many columns as lanes

func (k mixers) mix(dst, weights, rows []float32) {
	n, width, c := len(weights), len(dst), 0
	if n == 0 {
		return
	}
	for ; c+4*lanes <= width; c += 4 * lanes {
		k.four(&dst[c], &weights[0], &rows[c], n, width)
	}
	for ; c+lanes <= width; c += lanes {
		k.one(&dst[c], &weights[0], &rows[c], n, width)
	}
	if c < width {
		mixColumns(dst, weights, rows, c)
	}
}

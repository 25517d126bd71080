package kernel

// F32 computes the rows lo..hi-1 of the product of a matrix of float32s and n
// vectors of the same width, one after the other in x: row r of vector t goes to
// out[t*stride+r].
func (s *Set) F32(weights []float32, width int, x []float32, n int, out []float32, stride, lo, hi int) {
	s.f32(f32Product{weights: weights[:hi*width], large: len(weights) >= large, width: width, x: x[:n*width], n: n, out: out[:(n-1)*stride+hi], stride: stride}, lo, hi)
}

// large is the number of weights of a matrix that comes from memory for each
// product: 2 MB, more than a processor's own cache holds beside other data.
const large = 1 << 19

// An f32Product is the arguments of Set.F32, of checked lengths.
type f32Product struct {
	weights []float32
	large   bool // the whole matrix
	width   int
	x       []float32
	n       int
	out     []float32
	stride  int
}

func (m f32Product) row(r int) []float32    { return m.weights[r*m.width : (r+1)*m.width] }
func (m f32Product) vector(t int) []float32 { return m.x[t*m.width : (t+1)*m.width] }

// Dot returns the product of two vectors of the same length.
func (s *Set) Dot(a, b []float32) float32 { return s.dot(a, b[:len(a)]) }

// Mix adds rows of the width of dst, each times its weight, to dst, in their order.
func (s *Set) Mix(dst, weights, rows []float32) {
	s.mix(dst, weights, rows[:len(weights)*len(dst)])
}

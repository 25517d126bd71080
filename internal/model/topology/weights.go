package topology

// WeightBytes is the size of all weights in a .m file of the shape, without
// its header. The shape must be valid.
//
// Embedding, norms and routers are f32 whatever the type of the weights.
func (s Shape) WeightBytes() int64 {
	dim, q, kv, ff := int64(s.Dim), int64(s.QDim()), int64(s.KVDim()), int64(s.FFDim())
	experts := int64(max(s.Experts, 1))
	layer := 2*s.Weights.Bytes(q*dim) + 2*s.Weights.Bytes(kv*dim) + 3*experts*s.Weights.Bytes(dim*ff)
	layer += F32.Bytes(2 * dim)
	if s.Experts > 0 {
		layer += F32.Bytes(experts * dim)
	}
	if s.QKNorm() {
		layer += F32.Bytes(2 * int64(s.HeadDim))
	}
	vocab := int64(s.VocabSize) * dim
	return F32.Bytes(vocab) + int64(s.Layers)*layer + F32.Bytes(dim) + s.Weights.Bytes(vocab)
}

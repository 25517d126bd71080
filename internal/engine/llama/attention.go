package llama

import "math"

// An attention computes heads: unit i*kvHeads+h is those of token i that share
// the key-value head h, so that a block's keys and values are read once for all.
type attention struct {
	r      *runner
	stride int         // of the scores: positions of the longest sequence
	scores [][]float32 // of each worker: stride for each head of a group
}

func (a *attention) run(worker, lo, hi int) {
	kvHeads := a.r.model.shape.KVHeads
	for unit := lo; unit < hi; unit++ {
		a.group(a.scores[worker], unit/kvHeads, unit%kvHeads)
	}
}

// group computes the heads of token i that share a key-value head.
func (a *attention) group(all []float32, i, kvHead int) {
	r := a.r
	s := r.model.shape
	heads := s.Heads / s.KVHeads
	from := i*s.QDim() + kvHead*heads*s.HeadDim
	query := r.query[from : from+heads*s.HeadDim]
	blocks, n := r.rows[i].seq.blocks, r.rows[i].position+1

	scale := float32(1 / math.Sqrt(float64(s.HeadDim)))
	for j := range query { // they are fewer than the scores
		query[j] *= scale
	}
	for start := 0; start < n; start += blockTokens {
		keys, _ := r.cache.head(blocks[start/blockTokens], r.layerIndex, kvHead)
		r.kernels.F32(keys, s.HeadDim, query, heads, all[start:], a.stride, 0, min(blockTokens, n-start))
	}
	for h := range heads {
		r.kernels.Softmax(all[h*a.stride:][:n])
	}
	mixed := r.mixed.at(i)[kvHead*heads*s.HeadDim:][:heads*s.HeadDim]
	clear(mixed)
	for start := 0; start < n; start += blockTokens {
		_, values := r.cache.head(blocks[start/blockTokens], r.layerIndex, kvHead)
		for h := range heads {
			to, scores := mixed[h*s.HeadDim:][:s.HeadDim], all[h*a.stride:][start:min(start+blockTokens, n)]
			r.kernels.Mix(to, scores, values)
		}
	}
}

func (r *runner) attend() {
	s := r.model.shape
	longest := 0
	for _, row := range r.rows {
		longest = max(longest, row.position+1)
	}
	each := 2 * s.HeadDim * longest * s.Heads / s.KVHeads
	r.pool.do(&r.attention, len(r.rows)*s.KVHeads, work/each)
}

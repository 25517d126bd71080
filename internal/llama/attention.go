package llama

import "math"

// An attention computes heads: unit i*kvHeads+h is those of token i that share
// the key-value head h, so that a block's keys and values are read once for all.
type attention struct {
	r       *runner
	stride  int // of the scores: positions of the longest sequence
	workers []attentionBuffers
}

// attentionBuffers are those of one worker.
type attentionBuffers struct {
	scores []float32 // stride for each head of a group
	part   []float32 // the values of one block, mixed
}

func (a *attention) run(worker, lo, hi int) {
	kvHeads := a.r.model.shape.KVHeads
	for unit := lo; unit < hi; unit++ {
		a.group(&a.workers[worker], unit/kvHeads, unit%kvHeads)
	}
}

// group computes the heads of token i that share a key-value head.
func (a *attention) group(b *attentionBuffers, i, kvHead int) {
	r := a.r
	s := r.model.shape
	heads := s.Heads / s.KVHeads
	from := i*s.QDim() + kvHead*heads*s.HeadDim
	query := r.query[from : from+heads*s.HeadDim]
	blocks, n := r.rows[i].seq.blocks, r.rows[i].position+1

	for start := 0; start < n; start += blockTokens {
		keys, _ := r.cache.head(blocks[start/blockTokens], r.layerIndex, kvHead)
		r.kernels.F32(keys, s.HeadDim, query, heads, b.scores[start:], a.stride, 0, min(blockTokens, n-start))
	}
	root := float32(math.Sqrt(float64(s.HeadDim)))
	for h := range heads {
		scores := b.scores[h*a.stride:][:n]
		for t := range scores {
			scores[t] /= root
		}
		r.kernels.Softmax(scores)
	}
	mixed := r.mixed.at(i)[kvHead*heads*s.HeadDim:][:heads*s.HeadDim]
	for start := 0; start < n; start += blockTokens {
		_, values := r.cache.head(blocks[start/blockTokens], r.layerIndex, kvHead)
		for h := range heads {
			to, scores := mixed[h*s.HeadDim:][:s.HeadDim], b.scores[h*a.stride:][start:min(start+blockTokens, n)]
			if start == 0 {
				r.kernels.Mix(to, scores, values)
				continue
			}
			r.kernels.Mix(b.part, scores, values)
			add(to, b.part)
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

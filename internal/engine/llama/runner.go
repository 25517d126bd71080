package llama

import (
	"errors"

	"github.com/gorizond/koldun/internal/engine/llama/kernel"
)

// A runner evaluates batches of tokens. It holds a model, the workers and the
// buffers of a batch. Evaluation does not allocate. A runner is not safe for
// concurrent use.
type runner struct {
	model   *model
	cache   *cache
	pool    *pool
	kernels *kernel.Set
	seqLen  int // longest sequence
	batch   int // largest number of tokens at a time
	most    int // largest number of sequences with scores at a time

	product   product
	stage     tokenStage
	attention attention
	mixture   mixture

	freeScores func() error

	// The current batch and layer.
	rows       []row
	layerIndex int
	layer      *layer

	x                 []float32 // batch * dim: the residual stream
	normed            vectors   // dim wide
	query, key, value []float32
	mixed             vectors // query width wide: the output of attention
	gate              vectors // feed-forward width wide
	up                []float32
	out               []float32 // batch * dim: the output of a layer
	cos, sin          []float32 // batch * head dim / 2
	logits            []float32 // most * vocabulary
}

// A row is one token of a batch.
type row struct {
	seq      *sequence
	position int
	wanted   want // of its final state
}

// newRunner returns a runner for batches of up to batch tokens, of which up to
// most want scores. It starts the workers; close stops them. The caller keeps the
// model and closes it.
func newRunner(m *model, k *kernel.Set, c *cache, seqLen, threads, batch, most int) (*runner, error) {
	s := m.shape
	stride := blocksFor(seqLen) * blockTokens
	group := s.Heads / s.KVHeads
	scores, freeScores, err := newFloats(int64(threads) * int64(group) * int64(stride))
	if err != nil {
		return nil, err
	}
	r := &runner{
		model: m, cache: c, pool: newPool(threads), kernels: k, seqLen: seqLen, batch: batch, most: most,
		rows: make([]row, 0, batch),
		x:    make([]float32, batch*s.Dim), out: make([]float32, batch*s.Dim),
		query: make([]float32, batch*s.QDim()), key: make([]float32, batch*s.KVDim()), value: make([]float32, batch*s.KVDim()),
		up:  make([]float32, batch*s.FFDim()),
		cos: make([]float32, batch*s.HeadDim/2), sin: make([]float32, batch*s.HeadDim/2),
		logits: make([]float32, most*s.VocabSize),
		normed: newVectors(batch, s.Dim, m.rounded), mixed: newVectors(batch, s.QDim(), m.rounded),
		gate: newVectors(batch, s.FFDim(), m.rounded), mixture: newMixture(m, batch),
	}
	r.stage.r, r.attention.r, r.product.kernels = r, r, k
	r.attention.stride = stride
	for w := range threads {
		size := group * stride
		r.attention.scores = append(r.attention.scores, scores[w*size:(w+1)*size])
	}
	r.freeScores = freeScores
	return r, nil
}

func newVectors(n, width int, withPacked bool) vectors {
	v := vectors{n: n, width: width, values: make([]float32, n*width)}
	if withPacked {
		v.packed = make([]kernel.Packed, n*width/block)
	}
	return v
}

func (r *runner) close() error {
	r.pool.close()
	return errors.Join(r.cache.close(), r.freeScores())
}

func (r *runner) evalLayer(last bool) {
	l := r.layer
	r.each((*runner).enterAttention)
	r.multiply(&r.normed, part{l.query, r.query}, part{l.key, r.key}, part{l.value, r.value})
	r.each((*runner).remember)
	if last {
		r.keepRows(func(w want) bool { return w != wantNothing })
	}
	if len(r.rows) == 0 {
		return
	}
	r.attend()
	r.each((*runner).packMixed)
	r.multiply(&r.mixed, part{l.output, r.out})
	r.each((*runner).enterFeedForward)
	if l.router != nil {
		r.mix()
	} else {
		r.multiply(&r.normed, part{l.gate, r.gate.values}, part{l.up, r.up})
		r.each((*runner).activate)
		r.multiply(&r.gate, part{l.down, r.out})
	}
	r.each((*runner).leave)
}

func (r *runner) enterAttention(i int) { r.norm(i, r.layer.inputNorm) }

// norm normalises the residual stream of a token for the next matrices.
func (r *runner) norm(i int, weight []float32) {
	rmsNorm(r.kernels, r.normed.at(i), r.row(r.x, i), weight, r.model.header.Epsilon())
	r.normed.pack(r.kernels, i)
}

func (r *runner) row(values []float32, i int) []float32 {
	dim := r.model.shape.Dim
	return values[i*dim : (i+1)*dim]
}

// remember rotates the query and key of a token by its position and stores key
// and value in the cache.
func (r *runner) remember(i int) {
	s := r.model.shape
	query, key := r.query[i*s.QDim():(i+1)*s.QDim()], r.key[i*s.KVDim():(i+1)*s.KVDim()]
	r.turn(i, query, r.layer.queryNorm)
	r.turn(i, key, r.layer.keyNorm)
	at := r.rows[i]
	block := at.seq.blocks[at.position/blockTokens]
	r.cache.store(block, r.layerIndex, at.position%blockTokens, key, r.value[i*s.KVDim():(i+1)*s.KVDim()])
}

func (r *runner) turn(i int, heads, norm []float32) {
	size := r.model.shape.HeadDim
	half := len(r.model.rope.freqs)
	cos, sin := r.cos[i*half:(i+1)*half], r.sin[i*half:(i+1)*half]
	for h := 0; h < len(heads); h += size {
		head := heads[h : h+size]
		if norm != nil {
			rmsNorm(r.kernels, head, head, norm, r.model.header.Epsilon())
		}
		r.model.rope.turn(head, cos, sin)
	}
}

func (r *runner) packMixed(i int) { r.mixed.pack(r.kernels, i) }

func (r *runner) enterFeedForward(i int) {
	r.leave(i)
	r.norm(i, r.layer.ffNorm)
}

func (r *runner) activate(i int) {
	w := r.gate.width
	r.kernels.SiLU(r.gate.at(i), r.up[i*w:(i+1)*w])
	r.gate.pack(r.kernels, i)
}

// leave adds the output of a part of the layer to the residual stream.
func (r *runner) leave(i int) {
	if r.model.rounded {
		r.kernels.AddRounded(r.row(r.x, i), r.row(r.out, i))
		return
	}
	add(r.row(r.x, i), r.row(r.out, i))
}

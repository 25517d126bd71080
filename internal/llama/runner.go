package llama

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/gorizond/koldun/internal/llama/kernel"
)

// A runner evaluates tokens. It holds a model, its cache, the workers and the
// buffers of a batch. Evaluation does not allocate. A runner is not safe for
// concurrent use.
type runner struct {
	model   *model
	cache   *cache
	pool    *pool
	kernels *kernel.Set
	batch   int // largest number of tokens at a time

	product   product
	stage     tokenStage
	attention attention

	freeScores func() error

	// The current batch and layer.
	n, start   int // tokens, position of the first
	layerIndex int
	layer      *layer

	x                 []float32 // batch * dim: the residual stream
	normed            vectors   // dim wide
	query, key, value []float32
	mixed             vectors // query width wide: the output of attention
	gate              vectors // feed-forward width wide
	up                []float32
	out               []float32 // batch * dim: the output of a layer
	last              vectors   // the last token, for the classifier
	cos, sin          []float32 // batch * head dim / 2
	logits            []float32
}

// newRunner returns a runner for batches of up to batch tokens. It starts the
// workers; close stops them. The caller keeps the model and closes it.
func newRunner(m *model, k *kernel.Set, seqLen, threads, batch int) (*runner, error) {
	c, err := newCache(m.shape, seqLen)
	if err != nil {
		return nil, err
	}
	scores, freeScores, err := newFloats(int64(threads) * int64(seqLen))
	if err != nil {
		_ = c.free()
		return nil, err
	}
	s := m.shape
	r := &runner{
		model: m, cache: c, pool: newPool(threads), kernels: k, batch: batch,
		x: make([]float32, batch*s.Dim), out: make([]float32, batch*s.Dim),
		query: make([]float32, batch*s.QDim()), key: make([]float32, batch*s.KVDim()), value: make([]float32, batch*s.KVDim()),
		up:  make([]float32, batch*s.HiddenDim),
		cos: make([]float32, batch*s.HeadDim/2), sin: make([]float32, batch*s.HeadDim/2),
		logits: make([]float32, s.VocabSize),
		normed: newVectors(batch, s.Dim, m.rounded), mixed: newVectors(batch, s.QDim(), m.rounded),
		gate: newVectors(batch, s.HiddenDim, m.rounded), last: newVectors(1, s.Dim, m.rounded),
	}
	r.stage.r, r.attention.r, r.product.kernels = r, r, k
	for w := range threads {
		r.attention.scores = append(r.attention.scores, scores[w*seqLen:(w+1)*seqLen])
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
	return errors.Join(r.cache.free(), r.freeScores())
}

// eval evaluates up to batch tokens at the positions from start on. The caller
// must have evaluated all positions before. Then the cache holds the tokens and,
// with wantLogits, logits holds the scores after the last token. If ctx ends,
// eval returns its error within the time of one layer, and the cache is
// undefined from start on. The same holds for a truncated file, which is
// Corrupt.
func (r *runner) eval(ctx context.Context, tokens []int, start int, wantLogits bool) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if gone := faulted(recover()); gone != nil {
			err = gone
		}
	}()
	dim := r.model.shape.Dim
	r.n, r.start = len(tokens), start
	r.normed.n, r.mixed.n, r.gate.n = r.n, r.n, r.n
	half := len(r.model.rope.freqs)
	for i, token := range tokens {
		r.model.embed(token, r.x[i*dim:(i+1)*dim])
		r.model.rope.angles(start+i, r.cos[i*half:(i+1)*half], r.sin[i*half:(i+1)*half])
	}
	for l := range r.model.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.layerIndex, r.layer = l, &r.model.layers[l]
		r.evalLayer()
		if err := r.pool.err(); err != nil {
			return err
		}
	}
	if !wantLogits {
		return nil
	}
	rmsNorm(r.kernels, r.last.at(0), r.x[(r.n-1)*dim:r.n*dim], r.model.finalNorm, r.model.header.Epsilon())
	r.last.pack(r.kernels, 0)
	r.multiply(&r.last, part{r.model.classifier, r.logits})
	return r.pool.err()
}

func (r *runner) evalLayer() {
	l := r.layer
	r.each((*runner).enterAttention)
	r.multiply(&r.normed, part{l.query, r.query}, part{l.key, r.key}, part{l.value, r.value})
	r.each((*runner).remember)
	r.attend()
	r.each((*runner).packMixed)
	r.multiply(&r.mixed, part{l.output, r.out})
	r.each((*runner).enterFeedForward)
	r.multiply(&r.normed, part{l.gate, r.gate.values}, part{l.up, r.up})
	r.each((*runner).activate)
	r.multiply(&r.gate, part{l.down, r.out})
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
	r.cache.store(r.layerIndex, r.start+i, key, r.value[i*s.KVDim():(i+1)*s.KVDim()])
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

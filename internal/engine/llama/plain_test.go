package llama

import (
	"bytes"
	"cmp"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/convert"
	"github.com/gorizond/koldun/internal/artifact/convert/converttest"
	"github.com/gorizond/koldun/internal/engine/llama/kernel"
	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/topology"
)

// plainModel computes a model as its papers define it: in float64, all
// positions at once, without cache, blocks or threads.
type plainModel struct {
	t    testing.TB
	file *dllama.File
	s    topology.Shape
}

func readPlain(tb testing.TB, path string) plainModel {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	f, err := dllama.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		tb.Fatal(err)
	}
	return plainModel{tb, f, f.Header.Shape()}
}

// tensor reads a matrix as rows.
func (m plainModel) tensor(role dllama.Role, layer int) [][]float64 {
	return m.tensorOf(role, layer, -1)
}

func (m plainModel) tensorOf(role dllama.Role, layer, expert int) [][]float64 {
	x, ok := m.file.Find(role, layer, expert)
	if !ok {
		m.t.Fatalf("there is no tensor %d in layer %d", role, layer)
	}
	values, err := m.file.Read(x)
	if err != nil {
		m.t.Fatal(err)
	}
	rows := make([][]float64, x.Rows)
	for r := range rows {
		for _, v := range values[r*x.Cols : (r+1)*x.Cols] {
			rows[r] = append(rows[r], float64(v))
		}
	}
	return rows
}

func times(w [][]float64, x []float64) []float64 {
	out := make([]float64, len(w))
	for r, row := range w {
		for i, v := range row {
			out[r] += v * x[i]
		}
	}
	return out
}

func (m plainModel) normed(x, w []float64) []float64 {
	var mean float64
	for _, v := range x {
		mean += v * v / float64(len(x))
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v / math.Sqrt(mean+float64(m.file.Header.Epsilon())) * w[i]
	}
	return out
}

// positioned normalises and rotates every head.
func (m plainModel) positioned(x []float64, norm [][]float64, position int) []float64 {
	var out []float64
	size := m.s.HeadDim
	for h := 0; h < len(x); h += size {
		head := x[h : h+size]
		if norm != nil {
			head = m.normed(head, norm[0])
		}
		turned := make([]float64, size)
		for j := range size / 2 {
			a, b := 2*j, 2*j+1
			if m.file.Header.Rope() == dllama.RopeHalves {
				a, b = j, j+size/2
			}
			angle := float64(position) * m.frequency(j)
			turned[a] = head[a]*math.Cos(angle) - head[b]*math.Sin(angle)
			turned[b] = head[a]*math.Sin(angle) + head[b]*math.Cos(angle)
		}
		out = append(out, turned...)
	}
	return out
}

func (m plainModel) frequency(j int) float64 {
	f := math.Pow(float64(m.file.Header.Theta()), -float64(2*j)/float64(m.s.HeadDim))
	s := m.file.Header.RopeScaling
	if s == nil {
		return f
	}
	wave := 2 * math.Pi / f
	low, high, original := float64(s.LowFreqFactor), float64(s.HighFreqFactor), float64(s.OriginalSeqLen)
	smooth := min(max((original/wave-low)/(high-low), 0), 1)
	return (1-smooth)*f/float64(s.Factor) + smooth*f
}

// logits computes the scores after the last token.
func (m plainModel) logits(tokens []int) []float64 {
	embedding := m.tensor(dllama.Embedding, -1)
	xs := make([][]float64, len(tokens))
	for i, token := range tokens {
		xs[i] = append([]float64(nil), embedding[token]...)
	}
	for l := range m.s.Layers {
		m.layer(l, xs)
	}
	return times(m.tensor(dllama.Classifier, -1), m.normed(xs[len(xs)-1], m.tensor(dllama.FinalNorm, -1)[0]))
}

func (m plainModel) layer(l int, xs [][]float64) {
	var queryNorm, keyNorm [][]float64
	if m.s.QKNorm() {
		queryNorm, keyNorm = m.tensor(dllama.QueryNorm, l), m.tensor(dllama.KeyNorm, l)
	}
	wq, wk, wv, wo := m.tensor(dllama.Query, l), m.tensor(dllama.Key, l), m.tensor(dllama.Value, l), m.tensor(dllama.Output, l)
	feedForward := m.feedForward(l)
	inputNorm, ffNorm := m.tensor(dllama.InputNorm, l)[0], m.tensor(dllama.FFNorm, l)[0]
	var keys, values [][]float64
	size := m.s.HeadDim
	for i, x := range xs {
		y := m.normed(x, inputNorm)
		query := m.positioned(times(wq, y), queryNorm, i)
		keys = append(keys, m.positioned(times(wk, y), keyNorm, i))
		values = append(values, times(wv, y))
		mixed := make([]float64, m.s.QDim())
		for h := range m.s.Heads {
			g := h / (m.s.Heads / m.s.KVHeads)
			weights := make([]float64, i+1)
			var sum float64
			for t := range weights {
				var dot float64
				for j := range size {
					dot += query[h*size+j] * keys[t][g*size+j]
				}
				weights[t] = math.Exp(dot / math.Sqrt(float64(size)))
				sum += weights[t]
			}
			for t, w := range weights {
				for j := range size {
					mixed[h*size+j] += w / sum * values[t][g*size+j]
				}
			}
		}
		for j, v := range times(wo, mixed) {
			x[j] += v
		}
		for j, v := range feedForward(m.normed(x, ffNorm)) {
			x[j] += v
		}
	}
}

// feedForward returns the feed-forward part of a layer: one network, or the mean
// of the experts with the highest probabilities, weighted by these.
func (m plainModel) feedForward(l int) func(y []float64) []float64 {
	if m.s.Experts == 0 {
		return m.network(l, -1)
	}
	router := m.tensor(dllama.Router, l)
	experts := make([]func([]float64) []float64, m.s.Experts)
	for e := range experts {
		experts[e] = m.network(l, e)
	}
	return func(y []float64) []float64 {
		probabilities := times(router, y)
		order := make([]int, len(experts))
		for e, score := range probabilities {
			order[e], probabilities[e] = e, math.Exp(score)
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(probabilities[b], probabilities[a]) })
		var sum float64
		for _, e := range order[:m.s.ActiveExperts] {
			sum += probabilities[e]
		}
		out := make([]float64, len(y))
		for _, e := range order[:m.s.ActiveExperts] {
			for j, v := range experts[e](y) {
				out[j] += probabilities[e] / sum * v
			}
		}
		return out
	}
}

func (m plainModel) network(l, expert int) func(y []float64) []float64 {
	gate, down, up := m.tensorOf(dllama.Gate, l, expert), m.tensorOf(dllama.Down, l, expert), m.tensorOf(dllama.Up, l, expert)
	return func(y []float64) []float64 {
		inner := times(gate, y)
		for j, v := range times(up, y) {
			inner[j] = inner[j] / (1 + math.Exp(-inner[j])) * v
		}
		return times(down, inner)
	}
}

// withHeader writes a copy of the model with another header of the same shape.
func withHeader(tb testing.TB, path string, change func(*dllama.Header)) string {
	tb.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	h, err := dllama.ReadHeader(bytes.NewReader(raw))
	if err != nil {
		tb.Fatal(err)
	}
	weights := raw[h.Size:]
	h.Size = 0
	change(&h)
	head, err := h.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	out := tb.TempDir() + "/changed.m"
	if err := os.WriteFile(out, append(head, weights...), 0o600); err != nil {
		tb.Fatal(err)
	}
	return out
}

// widened returns a model with the weights of a q40 model in float32: its
// activations are not rounded, so that its results are exact.
func widened(tb testing.TB, path string) string {
	tb.Helper()
	raw := readFile(tb, path)
	from, err := dllama.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		tb.Fatal(err)
	}
	h := from.Header
	h.Weights, h.Size = topology.F32, 0
	out, err := h.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	for _, t := range from.Tensors {
		values, err := from.Read(t)
		if err != nil {
			tb.Fatal(err)
		}
		encoded := make([]byte, topology.F32.Bytes(t.Elements()))
		dllama.Encode(topology.F32, encoded, values)
		out = append(out, encoded...)
	}
	return writeFile(tb, out)
}

func TestAgainstPlainModel(t *testing.T) {
	nothing := func(*dllama.Header) {}
	const folders = "../../artifact/convert/testdata/in/"
	mixture := mixtureFolder(t)
	cases := map[string]struct {
		folder           string
		weights, buffers topology.FloatType
		change           func(*dllama.Header)
		tolerance        float64 // of logits, relative to the largest
	}{
		"LlamaF32":     {folders + "llama_bf16_2shards", topology.F32, topology.F32, nothing, 1e-5},
		"LlamaQ40":     {folders + "llama_bf16_2shards", topology.Q40, topology.Q80, nothing, .03},
		"LlamaQ40Wide": {folders + "llama_bf16_2shards", topology.Q40, topology.F32, nothing, 1e-5},
		"Qwen3F32":     {folders + "qwen3_bf16_tied_headdim", topology.F32, topology.F32, nothing, 1e-5},
		"Qwen3Q40":     {folders + "qwen3_bf16_tied_headdim", topology.Q40, topology.Q80, nothing, .03},
		"Qwen3Q40Wide": {folders + "qwen3_bf16_tied_headdim", topology.Q40, topology.F32, nothing, 1e-5},
		"MixtureF32":   {mixture, topology.F32, topology.F32, nothing, 1e-5},
		// Rounding can make a token choose another expert.
		"MixtureQ40":     {mixture, topology.Q40, topology.Q80, nothing, .1},
		"MixtureQ40Wide": {mixture, topology.Q40, topology.F32, nothing, 1e-5},
		"Llama31Scaling": {folders + "llama_bf16_2shards", topology.F32, topology.F32, func(h *dllama.Header) {
			h.RopeType, h.RopeScaling = dllama.RopeLlama3, &dllama.RopeScaling{Factor: 8, LowFreqFactor: 1, HighFreqFactor: 4, OriginalSeqLen: 64}
		}, 1e-5},
		"OtherEpsilonTheta": {folders + "llama_bf16_2shards", topology.F32, topology.F32, func(h *dllama.Header) { h.NormEpsilon, h.RopeTheta = 6, 500000 }, 1e-5},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path, _ := convertModel(t, c.folder, c.weights, convert.Model)
			path = withHeader(t, path, c.change)
			rng := newRand()
			tokens := make([]int, 75) // more than a batch, and than a block of the cache
			plain := readPlain(t, path)
			for i := range tokens {
				tokens[i] = rng.IntN(plain.s.VocabSize)
			}
			if c.weights == topology.Q40 && c.buffers == topology.F32 {
				path = widened(t, path)
			}
			r := newTestRunner(t, path, c.buffers, 2)
			logits := evalAll(t, r, &sequence{}, tokens, batchSize)
			want := plain.logits(tokens)
			var worst, largest float64
			for i, w := range want {
				worst = max(worst, math.Abs(w-float64(logits[i])))
				largest = max(largest, math.Abs(w))
			}
			if !(worst <= c.tolerance*largest) {
				t.Errorf("logits differ by %g of %g", worst, largest)
			}
			t.Logf("logits differ by %g of %g", worst, largest)
		})
	}
}

// mixtureFolder returns the folder of a model of experts with random weights.
func mixtureFolder(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	converttest.Write(tb, dir, converttest.Shape{
		Arch: topology.Qwen3MoE, Dim: 64, Hidden: 96, Layers: 3, Heads: 4, KVHeads: 2, HeadDim: 32, Vocab: 1024, SeqLen: 256,
		Experts: 8, Active: 3, ExpertWidth: 32,
	}, tiny)
	return dir
}

func newTestRunner(tb testing.TB, path string, buffers topology.FloatType, threads int) *runner {
	tb.Helper()
	return newTestRunnerWith(tb, path, buffers, threads, kernel.Sets()[0])
}

func newTestRunnerWith(tb testing.TB, path string, buffers topology.FloatType, threads int, k *kernel.Set) *runner {
	tb.Helper()
	m, err := openModel(path, buffers)
	if err != nil {
		tb.Fatal(err)
	}
	kv, err := newCache(m.shape, 2*m.shape.SeqLen)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := newRunner(m, k, kv, m.shape.SeqLen, threads, batchSize, batchSize)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.close(); err != nil {
			tb.Error(err)
		}
		if err := m.close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// evalAll adds tokens to a sequence, evaluates them, so many at a time, and
// returns the scores after the last one. The sequence ends with the test.
func evalAll(tb testing.TB, r *runner, s *sequence, tokens []int, batch int) []float32 {
	tb.Helper()
	if s.tokens == nil {
		tb.Cleanup(func() { s.drop(r.cache) })
	}
	s.tokens = append(s.tokens, tokens...)
	spans := make([]span, 1)
	for s.pending() > 0 {
		n := min(batch, s.pending())
		if err := s.reserve(r.cache, n); err != nil {
			tb.Fatal(err)
		}
		spans[0] = span{seq: s, n: n, wantScores: true}
		if err := r.eval(goOn, spans); err != nil {
			tb.Fatal(err)
		}
	}
	return spans[0].scores
}

// goOn never stops an evaluation.
func goOn() error { return nil }

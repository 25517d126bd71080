package llama

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gorizond/koldun/internal/model/formats/dllama"
	"github.com/gorizond/koldun/internal/model/topology"
)

// benchHeader describes a model of 96 million weights: 73 MB in q40, of which
// the embedding takes 12, and 396 MB in f32.
var benchHeader = dllama.Header{
	Arch: topology.Llama, Activation: dllama.SiLU, Dim: 1024, HiddenDim: 2816, Layers: 8, Heads: 16, KVHeads: 8, SeqLen: 1024, VocabSize: 3072,
}

// writeBench writes the model with random weights.
func writeBench(b *testing.B, weights topology.FloatType) string {
	b.Helper()
	h := benchHeader
	h.Weights = weights
	head, err := h.Encode()
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "bench.m")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	_, _ = w.Write(head)
	rng := newRand()
	for _, t := range h.Tensors() {
		raw := make([]byte, t.Type.Bytes(int64(t.Cols)))
		values := make([]float32, t.Cols)
		for range t.Rows {
			for i := range values {
				values[i] = float32(rng.Float64()-.5) / 32
				if isNorm(t.Role) { // norms of 0 would make all values 0
					values[i] = 1
				}
			}
			dllama.Encode(t.Type, raw, values)
			_, _ = w.Write(raw)
		}
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkEval evaluates a prompt of 128 tokens in batches, then tokens one
// by one after it.
func BenchmarkEval(b *testing.B) {
	for _, weights := range []topology.FloatType{topology.Q40, topology.F32} {
		path := writeBench(b, weights)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("prompt/%s/threads=%d", weights, threads), func(b *testing.B) {
				r := newTestRunner(b, path, "", threads)
				benchPrompt(b, r)
			})
			b.Run(fmt.Sprintf("token/%s/threads=%d", weights, threads), func(b *testing.B) {
				r := newTestRunner(b, path, "", threads)
				s := &sequence{}
				evalAll(b, r, s, make([]int, 128), batchSize)
				b.SetBytes(topologyBytes(r))
				b.ReportAllocs()
				token, n := []int{1}, 0
				for b.Loop() {
					if s.evaluated == 640 {
						s.tokens, s.evaluated = s.tokens[:128], 128
					}
					evalAll(b, r, s, token, 1)
					n++
				}
				b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "tokens/s")
			})
		}
	}
}

func benchPrompt(b *testing.B, r *runner) {
	b.Helper()
	tokens := make([]int, 128)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		s := &sequence{}
		evalAll(b, r, s, tokens, batchSize)
		s.drop(r.cache)
		n += len(tokens)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "tokens/s")
}

// topologyBytes returns the bytes of weights that one token reads.
func topologyBytes(r *runner) int64 {
	s := r.model.shape
	return s.WeightBytes() - topology.F32.Bytes(int64(s.VocabSize)*int64(s.Dim))
}

// BenchmarkSampler samples from a vocabulary of the size of Llama 3's.
func BenchmarkSampler(b *testing.B) {
	const vocabulary = 128256
	all := randoms(newRand(), vocabulary)
	var s sampler
	s.start(Sampling{Temperature: .8, TopP: .9, Seed: 1})
	work := make([]float32, vocabulary)
	b.SetBytes(4 * vocabulary)
	b.ReportAllocs()
	for b.Loop() {
		copy(work, all)
		s.next(work)
	}
}

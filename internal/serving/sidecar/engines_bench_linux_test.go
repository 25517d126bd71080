package sidecar_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/convert/converttest"
	"github.com/gorizond/koldun/internal/engine/engineapi"
	"github.com/gorizond/koldun/internal/engine/llama"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/openai"
	"github.com/gorizond/koldun/test/waittest"
)

// BenchmarkEngines measures the tokens per second of answers of up to 64 tokens:
// of the embedded engine, and of distributed-llama on 1, 2 and 4 nodes of one
// thread each. The model has 52 million parameters in q40.
func BenchmarkEngines(b *testing.B) {
	binaries(b)
	m := random(b, converttest.Shape{
		Arch: topology.Llama, Dim: 768, Hidden: 2048, Layers: 8, Heads: 12, KVHeads: 4, HeadDim: 64, Vocab: 1024, SeqLen: 512,
	}, topology.Q40)
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("embedded/threads=%d", threads), func(b *testing.B) {
			e, err := llama.Open(llama.Config{Model: m.model, Tokenizer: m.tokenizer, Threads: threads, BufferFloatType: topology.Q80})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = e.Close() }()
			rate(b, func() (n int) {
				_, err := e.Generate(waittest.Context(b), llama.Request{
					Messages: []llama.Message{{Role: "user", Content: question}}, MaxTokens: benchTokens,
				}, func(llama.Piece) error { n++; return nil })
				if err != nil {
					b.Fatal(err)
				}
				return n
			})
		})
	}
	for _, size := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("distributed-llama/nodes=%d", size), func(b *testing.B) {
			n := startNodes(b, size-1, m)
			client, err := engineapi.New(n.url)
			if err != nil {
				b.Fatal(err)
			}
			waittest.Until(b, "the root to serve", func() bool {
				state, err := n.supervisor().State(b.Context())
				return err == nil && state == "serving"
			})
			rate(b, func() int {
				r, err := client.Do(waittest.Context(b), engineapi.Chat{
					Messages: []openai.Message{{Role: openai.User, Content: question}}, MaxTokens: benchTokens,
				}, engineapi.Options{}, func(engineapi.Delta) error { return nil })
				if err != nil {
					b.Fatal(err)
				}
				return r.Deltas
			})
		})
	}
}

const benchTokens = 64

// rate reports the tokens per second of b.N answers, after a first one.
func rate(b *testing.B, answer func() int) {
	b.Helper()
	answer()
	begun, tokens := time.Now(), 0
	for range b.N {
		tokens += answer()
	}
	b.ReportMetric(float64(tokens)/time.Since(begun).Seconds(), "tokens/s")
	b.ReportMetric(0, "ns/op")
}

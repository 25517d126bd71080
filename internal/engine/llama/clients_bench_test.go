package llama

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/convert"
	"github.com/gorizond/koldun/internal/model/topology"
)

// BenchmarkClients compares four clients at once with one alone, in turns. It
// reports the medians of five rounds, and the median of the ratios of each round:
// in tokens per second of all clients together, and per second of the processor,
// which other programs on the machine change less.
func BenchmarkClients(b *testing.B) {
	const clients, rounds = 4, 5
	_, tokens := convertModel(b, tiny, topology.Q40, convert.Both)
	for _, weights := range []topology.FloatType{topology.Q40, topology.F32} {
		model := writeBench(b, weights)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", weights, threads), func(b *testing.B) {
				e := open(b, Config{Model: model, Tokenizer: tokens, Threads: threads, Slots: clients})
				clientRate(b, e, 1) // reads the file into memory
				metrics := map[string][]float64{}
				for range rounds {
					one, oneCPU := clientRate(b, e, 1)
					all, allCPU := clientRate(b, e, clients)
					for name, value := range map[string]float64{
						"one-tokens/s": one, "four-tokens/s": all, "ratio": all / one, "cpu-ratio": allCPU / oneCPU,
					} {
						metrics[name] = append(metrics[name], value)
					}
				}
				b.ReportMetric(0, "ns/op")
				for name, values := range metrics {
					slices.Sort(values)
					b.ReportMetric(values[len(values)/2], name)
				}
			})
		}
	}
}

// clientRate returns how many tokens all clients together get in a second, and in
// a second of the processor.
func clientRate(b *testing.B, e *Engine, clients int) (perSecond, perCPUSecond float64) {
	b.Helper()
	const tokens = 48
	began, cpu := time.Now(), processorTime()
	var running sync.WaitGroup
	for c := range clients {
		running.Go(func() {
			r, err := e.Generate(context.Background(), Request{Prompt: fmt.Sprint(c, " bridges"), MaxTokens: tokens}, func(Piece) error { return nil })
			if err != nil || r.Tokens != tokens {
				b.Errorf("the answer has %d tokens, want %d: %v", r.Tokens, tokens, err)
			}
		})
	}
	running.Wait()
	total := float64(clients * tokens)
	return total / time.Since(began).Seconds(), total / (processorTime() - cpu).Seconds()
}

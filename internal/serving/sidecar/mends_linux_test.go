package sidecar_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/convert/converttest"
	"github.com/gorizond/koldun/internal/model/topology"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/internal/serving/sidecar"
)

// BenchmarkRingMends measures the time from the end of a worker's process to the
// end of the next answer: of a ring that was idle, and of one that was computing.
// The model has 27 million parameters in f32, so the root sends up to 95 MB.
func BenchmarkRingMends(b *testing.B) {
	binaries(b)
	model := random(b, converttest.Shape{
		Arch: topology.Llama, Dim: 512, Hidden: 1536, Layers: 8, Heads: 8, KVHeads: 8, HeadDim: 64, Vocab: 1024, SeqLen: 512,
	}, topology.F32)
	for _, size := range []int{2, 4, 8} {
		b.Run(fmt.Sprintf("nodes=%d", size), func(b *testing.B) {
			n := startNodes(b, size-1, model)
			w := drive(anotherWorld(b), target{url: n.url, supervisor: n.supervisor()}, sidecar.Timeouts{})
			answer := func(id string) time.Duration {
				begun := time.Now()
				if _, last := w.send(chat(id, question, `,"max_tokens":4`)).finish(); last.Kind != queue.FrameEnd {
					b.Fatalf("%s ends with %+v", id, last.Error)
				}
				return time.Since(begun)
			}
			answer("req_first")
			var idle, busy time.Duration
			for i := range b.N {
				kill(b, n.workers[i%len(n.workers)])
				idle += answer(fmt.Sprintf("req_idle_%d", i))
				c := w.send(chat(fmt.Sprintf("req_long_%d", i), question))
				c.until(queue.FrameDelta)
				kill(b, n.workers[i%len(n.workers)])
				busy += answer(fmt.Sprintf("req_busy_%d", i))
				c.finish()
			}
			b.ReportMetric(idle.Seconds()/float64(b.N), "s/idle")
			b.ReportMetric(busy.Seconds()/float64(b.N), "s/busy")
			b.ReportMetric(0, "ns/op")
		})
	}
}

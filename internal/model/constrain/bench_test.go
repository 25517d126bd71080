//go:build unix

package constrain_test

import (
	"math"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/model/constrain"
)

// BenchmarkMask follows whole answers. It reports the mean of each token, with the
// compilation and the start, in processor time too, that of the fastest answer, and the
// slowest hundredth of all tokens. In First, each answer has a grammar of its own; in Next, all answers
// have the same.
func BenchmarkMask(b *testing.B) {
	tokens := largeVocabulary()
	ids := idsOf(tokens)
	began := time.Now()
	v := constrain.NewVocabulary(tokens)
	b.Logf("the vocabulary of %d tokens is ready after %v", len(tokens), time.Since(began))
	for _, c := range shapes {
		compile := func() *constrain.Grammar { return grammarOf(b, c.schema) }
		answer := encode(ids, c.answer)
		b.Run(c.name+"/First", func(b *testing.B) { follow(b, compile, v, answer) })
		g := compile()
		b.Run(c.name+"/Next", func(b *testing.B) { follow(b, func() *constrain.Grammar { return g }, v, answer) })
	}
}

func follow(b *testing.B, grammar func() *constrain.Grammar, v *constrain.Vocabulary, answer []int) {
	var took []time.Duration
	var whole time.Duration
	fastest := time.Duration(math.MaxInt64)
	processor := processorTime(b)
	for b.Loop() {
		began := time.Now()
		m := constrain.NewMatcher(b.Context(), grammar(), v)
		for _, id := range answer {
			step := time.Now()
			mask, err := m.Mask()
			if err != nil {
				b.Fatal(err)
			}
			if mask[id/64]>>(id%64)&1 == 0 {
				b.Fatalf("token %d is not allowed", id)
			}
			if err := m.Advance(id); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(step))
		}
		if !m.Ends() {
			b.Fatal("the answer is not complete")
		}
		took := time.Since(began)
		fastest = min(fastest, took)
		whole += took
	}
	processor = processorTime(b) - processor
	slices.Sort(took)
	per := func(name string, d time.Duration, n int) { b.ReportMetric(d.Seconds()*1e6/float64(n), name) }
	per("µs/token", whole, len(took))
	per("µs/processor", processor, len(took))
	per("µs/fastest", fastest, len(answer))
	per("µs/median", took[len(took)/2], 1)
	per("µs/p99", took[len(took)*99/100], 1)
	b.ReportMetric(float64(len(answer)), "tokens")
}

// processorTime is that of the process, in its own code.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano())
}

package convert_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/artifact/convert"
	dirstore "github.com/gorizond/koldun/internal/artifact/objectstore/dir"
	"github.com/gorizond/koldun/internal/model/topology"
)

// BenchmarkConvert converts a bf16 model from folder to folder. It reports
// parameters per second of time and per second of CPU, all threads and the
// kernel's work included.
func BenchmarkConvert(b *testing.B) {
	dir := b.TempDir()
	// About 111 million parameters, a file of 222 MB.
	params := writeLargeModel(b, dir, largeModel{dim: 1024, hidden: 2816, layers: 6, heads: 16, vocab: 16000})
	from, err := dirstore.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, weights := range []topology.FloatType{topology.Q40, topology.Q80, topology.F16, topology.F32} {
		b.Run(string(weights), func(b *testing.B) {
			b.ReportAllocs()
			begin := cpu(b)
			for b.Loop() {
				to, err := dirstore.Open(b.TempDir())
				if err != nil {
					b.Fatal(err)
				}
				run(b, convert.Config{From: from, To: to, Name: "m", Weights: weights, Only: convert.Model})
			}
			n := float64(b.N) * float64(params) / 1e6
			b.ReportMetric(n/b.Elapsed().Seconds(), "Mparams/s")
			b.ReportMetric(n/(cpu(b)-begin).Seconds(), "Mparams/cpu-s")
		})
	}
}

// cpu is the time that all threads of the process have spent.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

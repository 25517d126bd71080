package main

import (
	"go/parser"
	"go/token"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDeclaredMetrics reads metrics from each form in which the code declares them.
func TestDeclaredMetrics(t *testing.T) {
	const source = `package p

func f() {
	common := []string{"model"}
	_ = prometheus.NewGauge(prometheus.GaugeOpts{Name: "koldun_a", Help: "A."})
	_ = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "koldun_b_total", Help: "B."}, []string{"state"})
	_ = histogram("gen_ai_c_seconds", "C.", buckets, append(common, "type")...)
	_ = prometheus.NewDesc("koldun_d", "D.", nil, nil)
	_ = bucket("koldun_models")
	_ = httpserver.Options{Name: "health"}
}
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	want := []metric{
		{name: "koldun_a", help: "A."}, {name: "koldun_b_total", help: "B.", labels: []string{"state"}},
		{name: "gen_ai_c_seconds", help: "C.", labels: []string{"model", "type"}}, {name: "koldun_d", help: "D."},
	}
	if diff := cmp.Diff(want, declared(file), cmp.AllowUnexported(metric{})); diff != "" {
		t.Errorf("metrics differ (-want +got):\n%s", diff)
	}
}

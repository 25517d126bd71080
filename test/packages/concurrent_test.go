package main

import (
	"go/parser"
	"go/token"
	"testing"
)

func TestConcurrent(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		want   bool
	}{
		"Pure":       {`package p; import "strings"; func f() string { return strings.ToUpper("a") }`, false},
		"Goroutine":  {`package p; func f() { go func() {}() }`, true},
		"Channel":    {`package p; var c chan int`, true},
		"Receiver":   {`package p; func f(c <-chan int) int { return <-c }`, true},
		"Select":     {`package p; func f() { select {} }`, true},
		"Lock":       {`package p; import "sync"; var mu sync.Mutex`, true},
		"Atomic":     {`package p; import "sync/atomic"; var n atomic.Int64`, true},
		"Group":      {`package p; import "golang.org/x/sync/errgroup"; var g errgroup.Group`, true},
		"Parallel":   {`package p; import "testing"; func TestA(t *testing.T) { t.Parallel() }`, true},
		"Comment":    {"package p\n// go func() {}(), chan, sync.Mutex\nfunc f() {}", false},
		"OtherNames": {`package p; import "example.org/synced"; var x = synced.Go`, false},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := parser.ParseFile(token.NewFileSet(), "p.go", c.source, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if got := concurrent(file); got != c.want {
				t.Errorf("concurrent is %t, want %t", got, c.want)
			}
		})
	}
}

//go:build unix

package llama

import (
	"context"
	"os"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/topology"
)

// A file that is truncated while it is mapped fails answers, not the process.
func TestModelCutOffInUse(t *testing.T) {
	for _, threads := range []int{1, 2} {
		c := tinyConfig(t, topology.Q40)
		c.Threads = threads
		e := open(t, c)
		if err := os.Truncate(c.Model, 8<<10); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err := e.Generate(context.Background(), user("Hello"), func(Piece) error { return nil })
			if !fault.Is(err, fault.Corrupt) {
				t.Errorf("with %d threads the answer ends with %v, want a corrupt file", threads, err)
			}
		}
	}
}

// Other panics are bugs and must not be swallowed.
func TestOtherPanicsGoOn(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the panic has been swallowed")
		}
	}()
	_ = faulted("something else")
}

//go:build unix

package llama

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/topology"
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

// A file that is truncated while the engine opens it is an error.
func TestModelCutOffWhileOpening(t *testing.T) {
	path := tinyConfig(t, topology.F32).Model
	for _, left := range []int64{0, 64 << 10} { // before the header, and before the last norm
		f, size, err := openRegular(writeFile(t, readFile(t, path)))
		if err != nil {
			t.Fatal(err)
		}
		data, unmap, err := mapFile(f, size)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(f.Name(), left); err != nil {
			t.Fatal(err)
		}
		if _, err := readMapped(data, ""); !fault.Is(err, fault.Corrupt) {
			t.Errorf("with %d bytes left the error is %v, want Corrupt", left, err)
		}
		if err := errors.Join(unmap(), f.Close()); err != nil {
			t.Error(err)
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

package main

import (
	"os"
	"runtime"
)

// spareGarbage is how much garbage may lie around before it is collected,
// beside what Go allows anyway, in bytes. The process grows by at most twice
// that, however large its heap is.
const spareGarbage = 16 << 20

// collectLess has garbage collected when there are some MiB of it, unless GOGC
// says something: a heap of few MiB, that of a sidecar, would be searched several
// times a second. Call end at the end.
func collectLess() (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	// Go waits until as much garbage has come as there are objects. This is one
	// that nobody writes to, so it takes no memory, and has no pointers, so nobody
	// searches it.
	object := make([]byte, spareGarbage)
	return func() { runtime.KeepAlive(object) }
}

package main

import (
	"os"
	"runtime"
)

// spareGarbage is the garbage in bytes that may accumulate before a collection, in
// addition to what Go allows. The process grows by at most twice that.
const spareGarbage = 16 << 20

// collectLess delays garbage collections until there are some MiB of garbage,
// unless GOGC is set: the collector would scan the heap of a sidecar, a few MiB,
// several times a second. Call end at the end of the process.
func collectLess() (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	// Go waits until there is as much garbage as live memory. This object counts as
	// live, but has no pages, because nothing writes to it, and no pointers to scan.
	object := make([]byte, spareGarbage)
	return func() { runtime.KeepAlive(object) }
}

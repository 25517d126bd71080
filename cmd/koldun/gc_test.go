package main

import (
	"runtime"
	"testing"
)

func TestCollectLess(t *testing.T) {
	// next is the size of the heap at which garbage is collected next.
	next := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NextGC
	}
	for name, c := range map[string]struct {
		gogc string
		less bool
	}{"Default": {"", true}, "GOGC": {"100", false}} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOGC", c.gogc)
			usually := next()
			end := collectLess()
			now := next()
			end()
			if less := now >= usually+spareGarbage; less != c.less {
				t.Errorf("got a garbage collection at %d bytes, %d without the setting", now, usually)
			}
		})
	}
}

//go:build unix

package llama

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns what the process has used of the processors.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

//go:build !unix

package llama

import "time"

// processorTime returns 0: only benchmarks read it, and not on this system.
func processorTime() time.Duration { return 0 }

package topology

import "github.com/gorizond/koldun/internal/fault"

// CheckSize reports whether the root of n nodes has the memory for its part of the
// weights, by the size of the model's files in bytes. The rest of its plan is known only
// with the header, so that a model that passes may need more. The error is Quota.
func CheckSize(size int64, n int, rootMemory int64) error {
	weights := size / 100 * 99 // a tokenizer is far smaller than the rest
	if n < 1 || weights/int64(n) <= rootMemory {
		return nil
	}
	return fault.Errorf(fault.Quota, "on %d nodes the root needs at least %d MiB for its part of the weights and has %d MiB: at least %d nodes are needed",
		n, mib(weights/int64(n)), rootMemory>>20, (weights+rootMemory-1)/max(rootMemory, 1))
}

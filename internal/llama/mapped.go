package llama

import (
	"runtime"

	"github.com/gorizond/koldun/internal/fault"
)

// faulted makes an error of what recover returned, if it is a memory fault:
// then the mapped file has become shorter, or its disk does not give it any
// more. Goroutines that read the file have debug.SetPanicOnFault set, without
// which such a fault ends the process. Any other panic goes on.
func faulted(panicked any) error {
	if panicked == nil {
		return nil
	}
	err, ok := panicked.(interface {
		runtime.Error
		Addr() uintptr // only of faults (debug.SetPanicOnFault)
	})
	if !ok {
		panic(panicked)
	}
	return fault.Errorf(fault.Corrupt, "cannot read the model's file any more: it was changed or cut off while in use; write the file anew and restart the engine (%w)", err)
}

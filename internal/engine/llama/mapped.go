package llama

import (
	"runtime"

	"github.com/gorizond/koldun/internal/fault"
)

// faulted converts the value of recover to an error if it is a memory fault: a
// read of the mapped file failed because the file was truncated or its disk
// failed. Goroutines that read the file must set debug.SetPanicOnFault, or such
// a fault ends the process. faulted repeats any other panic.
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
	return fault.Errorf(fault.Corrupt, "cannot read the model's file any more: it was changed or truncated while in use; write the file again and restart the engine (%w)", err)
}

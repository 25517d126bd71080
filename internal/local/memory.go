package local

import (
	"github.com/gorizond/koldun/internal/bytesize"
	"github.com/gorizond/koldun/internal/fault"
)

// fits returns why the pods of a workload cannot run beside those of the others,
// or nil: an Unsupported error if together they may take more memory than this
// machine has.
func (w *workload) fits() error {
	own, err := w.memory()
	if err != nil || own == 0 || w.l.cfg.Memory == 0 {
		return err
	}
	sum := own
	for _, e := range w.l.table.entries {
		if other, ok := e.unit.(*workload); ok && other != w && e.blocked == "" && !other.stopped {
			n, err := other.memory()
			if err != nil {
				continue // it is refused for that
			}
			sum += n
		}
	}
	if sum <= w.l.cfg.Memory {
		return nil
	}
	return fault.Errorf(fault.Unsupported, "its pods need %s of memory, and together with the others %s, but this machine has %s: use a smaller model or a shorter context (spec.engine.maxSeqLen)",
		bytesize.Format(own), bytesize.Format(sum), bytesize.Format(w.l.cfg.Memory))
}

// memory is what all pods of the workload may take.
func (w *workload) memory() (int64, error) {
	n, err := w.spec.Template.Spec.MemoryLimit()
	return n * int64(w.replicas()), err
}

package local

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// A specWatch is the watch of one managed resource, if its Managed has one.
type specWatch struct {
	ctx  context.Context //nolint:containedctx // of the unit; each watch is one below it
	spec any             // the watched spec
	end  context.CancelFunc
	over chan struct{} // closed when the watch has ended
}

// begin starts the watch, and restarts it if the spec has changed.
func (f *specWatch) begin(m *managedUnit) {
	w, ok := m.l.cfg.Managed.(Watcher)
	if !ok {
		return
	}
	obj := *m.obj.Load()
	if f.end != nil {
		if reflect.DeepEqual(f.spec, obj["spec"]) {
			return
		}
		f.end()
	}
	ctx, cancel := context.WithCancel(f.ctx)
	before, over := f.over, make(chan struct{})
	f.spec, f.end, f.over = obj["spec"], cancel, over
	m.l.runners.Go(func() {
		defer close(over)
		defer cancel()
		if before != nil {
			<-before // an object has at most one watch
		}
		reported := ""
		for ctx.Err() == nil {
			err := w.Watch(ctx, obj, m.reconcileNow)
			if err == nil {
				return
			}
			if !fault.Is(err, fault.Transient) && err.Error() != reported { // Observe reports lost connections
				reported = err.Error()
				m.l.post(func() { m.l.table.reportProblem(m.e.key, fmt.Errorf("cannot watch %s: %w", m.e.key, err)) })
			}
			retry := time.NewTimer(m.l.cfg.WatchAgain)
			select {
			case <-retry.C:
			case <-ctx.Done():
			}
			retry.Stop()
		}
	})
}

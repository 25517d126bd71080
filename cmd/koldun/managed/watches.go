package managed

import (
	"context"
	"sync"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local"
	"github.com/gorizond/koldun/provider/connpool"
)

// watches ends a watch when its object has come to be on another connection. It
// is safe for concurrent use.
type watches struct {
	mu  sync.Mutex
	all map[local.Key]watching
}

type watching struct {
	line *connpool.Line
	stop context.CancelFunc
}

func newWatches() *watches { return &watches{all: map[local.Key]watching{}} }

// run watches until ctx ends, and then returns nil. Errors: Transient if the object
// is on another connection now; those of watch.
func (w *watches) run(ctx context.Context, key local.Key, line *connpool.Line, watch func(context.Context) error) error {
	on, stop := context.WithCancel(ctx)
	defer stop()
	w.mu.Lock()
	w.all[key] = watching{line, stop}
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, key)
	}()
	err := watch(on)
	if err == nil && on.Err() != nil && ctx.Err() == nil {
		return fault.Errorf(fault.Transient, "%s is on another connection", key)
	}
	return err
}

// on tells the connection that an object has used last; nil if it has used none.
func (w *watches) on(key local.Key, line *connpool.Line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one, ok := w.all[key]; ok && line != nil && one.line != line {
		one.stop()
	}
}

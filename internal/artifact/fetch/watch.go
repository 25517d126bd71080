package fetch

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/gorizond/koldun/internal/fault"
)

// minRate is the rate in bytes per second below which a connection is stalled.
const minRate = 512

// errStalled ends a stalled connection.
var errStalled = fault.Errorf(fault.Transient, "the connection stalled")

// A watched reader cancels its stream when too few bytes come in a window of time.
type watched struct {
	r      io.Reader
	bytes  atomic.Int64 // in this window
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func watch(r io.Reader, window time.Duration, cancel context.CancelCauseFunc) *watched {
	w := &watched{r: r, cancel: cancel}
	least := max(1, int64(window.Seconds()*minRate))
	began := make(chan struct{})
	w.timer = time.AfterFunc(window, func() {
		<-began // the timer is set
		if w.bytes.Swap(0) < least {
			cancel(errStalled)
			return
		}
		w.timer.Reset(window)
	})
	close(began)
	return w
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.bytes.Add(int64(n))
	return n, err
}

// stop ends the watch, which may cancel once more during the call.
func (w *watched) stop() { w.timer.Stop() }

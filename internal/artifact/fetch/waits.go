package fetch

import "sync"

// toldFrom is the number of failures in a row from which reports tell of a call that is tried
// again. The first is often the only one.
const toldFrom = 2

// waits are the calls that fail and are tried again, so that reports can tell why the work
// does not advance. The zero value is usable.
type waits struct {
	mu      sync.Mutex
	waiting int    // calls
	cause   string // error of the first
}

// message returns the error of the first call that waits; empty if none waits. It stays while
// others fail in other words: readers pay for each change.
func (w *waits) message() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting == 0 {
		return ""
	}
	return w.cause
}

// call returns a call, which has not failed. It must be ended.
func (w *waits) call() *waitingCall { return &waitingCall{of: w} }

// A waitingCall is one call with all its attempts. It is for one goroutine.
type waitingCall struct {
	of   *waits
	told bool
}

// failed notes the failure after n attempts in a row.
func (c *waitingCall) failed(n int, err error) {
	if n < toldFrom || c.told {
		return
	}
	c.told = true
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.of.waiting == 0 {
		c.of.cause = err.Error()
	}
	c.of.waiting++
}

// end notes that the call has succeeded or is given up.
func (c *waitingCall) end() {
	if !c.told {
		return
	}
	c.told = false
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.waiting--
}

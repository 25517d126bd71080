package constrain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// A budget limits what the compilation of a form, or one mask of it, takes: all that
// other clients wait for. Each loop over what a client wrote spends of it, and ends with
// it. A unit of work is about 10 ns, so the work ends long before the time if the work is
// counted well.
type budget struct {
	work, bytes int             // that are left
	done        <-chan struct{} // the client is gone; nil: it stays
	look        int             // work left when to look at the client and the time; ended: always
	looked      time.Time       // the latest look
	took        time.Duration   // so far
	err         error           // the first; it is final
}

// maxTime limits a compilation and a mask.
const maxTime = time.Second

// lookEvery is the work from one look at the client and the time to the next, and maxGap
// the time that counts between them: if it is longer, other processes had the processor,
// for which no schema is refused.
const (
	lookEvery = 1 << 14
	maxGap    = 10 * time.Millisecond
)

// ended makes each spending look.
const ended = math.MaxInt

// The errors of a budget. Compilations and masks say what went beyond them.
var (
	errWork  = errors.New("steps")
	errBytes = errors.New("bytes of memory")
	errTime  = errors.New("time")
	errGone  = fmt.Errorf("the client is gone: %w", context.Canceled)
)

// begin starts a budget, unless it has ended with an error.
func (b *budget) begin(done <-chan struct{}, work, bytes int) {
	b.work, b.bytes, b.done, b.looked, b.took = work, bytes, done, time.Time{}, 0
	if b.look = work - lookEvery; b.err != nil {
		b.look = ended
	}
}

// spend takes work. It reports whether the budget lasts.
func (b *budget) spend(work int) bool {
	b.work -= work
	return b.work >= b.look || b.check()
}

// take takes bytes. It reports whether the budget lasts.
func (b *budget) take(bytes int) bool {
	b.bytes -= bytes
	return b.bytes >= 0 || b.end(errBytes)
}

// end ends the budget.
func (b *budget) end(err error) bool {
	b.look = ended
	if b.err == nil {
		b.err = err
	}
	return false
}

// check looks at the client and the time. It reports whether the budget lasts.
func (b *budget) check() bool {
	if b.err != nil {
		return false
	}
	if b.work < 0 {
		return b.end(errWork)
	}
	select {
	case <-b.done:
		return b.end(errGone)
	default:
	}
	now := time.Now()
	if !b.looked.IsZero() {
		b.took += min(now.Sub(b.looked), maxGap)
	}
	if b.looked = now; b.took > maxTime {
		return b.end(errTime)
	}
	b.look = max(b.work-lookEvery, 0)
	return true
}

// allowance says what a budget of so much work and so many bytes allows, by its error.
func allowance(err error, work, bytes int) string {
	switch {
	case errors.Is(err, errWork):
		return fmt.Sprintf("more than %d steps", work)
	case errors.Is(err, errBytes):
		return fmt.Sprintf("more than %d KiB of memory", bytes>>10)
	}
	return fmt.Sprintf("longer than %v", maxTime)
}

// The budget of a compilation. The largest schemas that people publish take a tenth of it.
const (
	maxCompileWork  = 1 << 22
	maxCompileBytes = 12 << 20
	nodeMemory      = 64  // of a node, with what checks of the graph need
	ruleMemory      = 128 // of a rule, with its place in tables
)

// newBudget returns the budget of a compilation.
func newBudget(done <-chan struct{}) *budget {
	b := &budget{}
	b.begin(done, maxCompileWork, maxCompileBytes)
	return b
}

// exceeded returns the error of the budget of a compilation.
func (b *budget) exceeded() error {
	if errors.Is(b.err, errGone) {
		return b.err
	}
	return fmt.Errorf("it takes %s to compile", allowance(b.err, maxCompileWork, maxCompileBytes))
}

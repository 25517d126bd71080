package jinja

import (
	"context"
	"fmt"
	"time"
)

// Limits bound one rendering.
type Limits struct {
	Steps int // evaluated expressions, statements and iterations
	Bytes int // of all texts and lists that the rendering makes, output included
	Depth int // of macros and recursive loops in each other
}

// DefaultLimits are far above what a conversation that fits into the context
// of a model needs.
func DefaultLimits() Limits {
	return Limits{Steps: 20_000_000, Bytes: 512 << 20, Depth: 100}
}

// valueBytes is what an item of a list or dict counts.
const valueBytes = 32

// A run is the state of one rendering.
type run struct {
	ctx      context.Context //nolint:containedctx // a run lives as long as one call of Render
	left     Limits
	max      Limits
	now      func() time.Time
	vars     *dict
	template *Template
	depth    int

	// What is evaluated, for errors.
	line      int
	construct string
}

// step counts a unit of work.
func (r *run) step() {
	r.left.Steps--
	if r.left.Steps < 0 {
		r.exceed(nil, "the template needs more than %d steps", r.max.Steps)
	}
	if r.left.Steps%1024 == 0 && r.ctx.Err() != nil {
		r.exceed(context.Cause(r.ctx), "the evaluation was stopped: %v", context.Cause(r.ctx))
	}
}

// scan counts the work of reading texts once, which one step would hide.
func (r *run) scan(values ...Value) {
	n := 0
	for _, v := range values {
		if t, ok := v.(text); ok {
			n += len(t.s) / 32
		}
	}
	if n == 0 {
		return
	}
	before := r.left.Steps / 1024
	r.left.Steps -= n
	if r.left.Steps/1024 != before { // so that step looks at the context
		r.left.Steps -= r.left.Steps % 1024
		r.left.Steps++
	}
	r.step()
}

// charge counts bytes that a value needs.
func (r *run) charge(n int) {
	r.left.Bytes -= n
	if r.left.Bytes < 0 {
		r.exceed(nil, "the template makes more than %d bytes of values", r.max.Bytes)
	}
}

// reserve counts n units of size bytes before they are made.
func (r *run) reserve(n, size int) {
	if size > 0 && n > r.left.Bytes/size {
		r.charge(r.left.Bytes + 1)
	}
	r.charge(n * size)
}

// enter begins a macro, a recursive loop or a nested value; leave ends it.
func (r *run) enter() {
	r.depth++
	if r.depth > r.max.Depth {
		r.exceed(nil, "macros, loops or values are nested more than %d levels deep", r.max.Depth)
	}
}

func (r *run) leave() { r.depth-- }

func (r *run) exceed(cause error, format string, args ...any) {
	panic(&Error{Reason: Exceeded, Line: r.line, Construct: r.construct, Message: fmt.Sprintf(format, args...), cause: cause})
}

// fail ends the evaluation because an operation is not defined.
func (r *run) fail(format string, args ...any) {
	failAt(Failed, r.line, r.construct, format, args...)
}

// at records what is evaluated next.
func (r *run) at(line int, construct string) { r.line, r.construct = line, construct }

// use ends the evaluation if a value is undefined.
func (r *run) use(v Value) Value {
	if u, ok := v.(*undefined); ok {
		r.fail("%s", u.message)
	}
	return v
}

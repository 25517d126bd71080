package sidecar

import (
	"slices"

	"github.com/gorizond/koldun/internal/serving/queue"
)

// An outbox holds the ends of attempts that no leader has acknowledged yet. The runner's
// mutex guards it, because a record names each attempt as running or as ended.
type outbox struct {
	ends  []*queue.AttemptEnd // oldest first; never changed
	added chan struct{}       // cap 1: there are ends to report; needs no mutex
	empty chan struct{}       // closed while ends is empty
}

func newOutbox() outbox {
	o := outbox{added: make(chan struct{}, 1), empty: make(chan struct{})}
	close(o.empty)
	return o
}

func (o *outbox) add(e *queue.AttemptEnd) {
	o.ends = append(o.ends, e)
	if len(o.ends) == 1 {
		o.empty = make(chan struct{})
	}
}

// remove deletes an end, which is in the outbox.
func (o *outbox) remove(e *queue.AttemptEnd) {
	o.ends = slices.DeleteFunc(o.ends, func(other *queue.AttemptEnd) bool { return other == e })
	if len(o.ends) == 0 {
		o.ends = nil
		close(o.empty)
	}
}

// copies returns what a record says of the ends.
func (o *outbox) copies() []queue.AttemptEnd {
	var out []queue.AttemptEnd
	for _, e := range o.ends {
		out = append(out, *e)
	}
	return out
}

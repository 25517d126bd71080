package policy

import "container/heap"

// An entry is a job in the queue.
type entry struct {
	job    Job
	tenant *tenant
	parked bool // lets others pass until its patience ends
	// unserved jobs let others pass until an idle slot serves their operation.
	// They are in a heap of Queue.unserved in place of that of their tenant.
	unserved bool
	// places in the heaps that it is in
	inTenant, inParked, inDeadlines int
}

// A placer returns where an item keeps its place in a heap.
type placer[T any] func(item T) *int

// An index is a heap whose items know their places, so that any can be taken out.
type index[T any] struct {
	items   []T
	compare func(a, b T) int
	place   placer[T]
}

func (x *index[T]) Len() int           { return len(x.items) }
func (x *index[T]) Less(i, j int) bool { return x.compare(x.items[i], x.items[j]) < 0 }
func (x *index[T]) Swap(i, j int) {
	x.items[i], x.items[j] = x.items[j], x.items[i]
	*x.place(x.items[i]), *x.place(x.items[j]) = i, j
}

// Push and Pop are for container/heap alone.
func (x *index[T]) Push(v any) {
	item := v.(T) //nolint:forcetypeassert // only add calls it
	*x.place(item) = len(x.items)
	x.items = append(x.items, item)
}

func (x *index[T]) Pop() any {
	var zero T
	last := len(x.items) - 1
	item := x.items[last]
	x.items[last] = zero
	x.items = x.items[:last]
	*x.place(item) = -1
	return item
}

func (x *index[T]) add(item T) { heap.Push(x, item) }

// fix and remove require that the item is in the heap.
func (x *index[T]) fix(item T)    { heap.Fix(x, *x.place(item)) }
func (x *index[T]) remove(item T) { heap.Remove(x, *x.place(item)) }

func (x *index[T]) top() (T, bool) {
	if len(x.items) == 0 {
		var zero T
		return zero, false
	}
	return x.items[0], true
}

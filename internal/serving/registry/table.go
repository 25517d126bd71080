package registry

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// A Record is a value with its revision in the bucket.
type Record[T any] struct {
	Key      string
	Value    T
	Revision uint64
}

// A Table is a bucket of records of one type. Its methods block until the
// server has answered or ctx ends, and may be called from any goroutine.
type Table[T any] struct {
	bus    *bus.Bus
	bucket string
	filter string // of the keys that a Cache follows; "" is all
	check  func(value T, key string) error
}

// Get reads a record. Errors: NotFound; Corrupt or Invalid if it is not a valid
// record.
func (t *Table[T]) Get(ctx context.Context, key string) (Record[T], error) {
	raw, rev, err := bus.Get[json.RawMessage](ctx, t.bus, t.bucket, key)
	if err != nil {
		return Record[T]{}, err
	}
	return t.decode(key, raw, rev)
}

// Put writes a value unconditionally and returns its revision.
func (t *Table[T]) Put(ctx context.Context, key string, value T) (uint64, error) {
	if err := t.checked(key, value); err != nil {
		return 0, err
	}
	return t.bus.Put(ctx, t.bucket, key, value)
}

// Swap replaces the given revision by a value; revision 0 means that the key
// must not exist. Errors: Conflict if the revision has changed.
func (t *Table[T]) Swap(ctx context.Context, key string, value T, revision uint64) (uint64, error) {
	if err := t.checked(key, value); err != nil {
		return 0, err
	}
	if revision == 0 {
		return t.bus.Create(ctx, t.bucket, key, value, 0)
	}
	return t.bus.Update(ctx, t.bucket, key, value, revision, 0)
}

// Delete removes a record if it exists. With a revision other than 0 it removes
// only that revision. Errors: Conflict if the revision has changed.
func (t *Table[T]) Delete(ctx context.Context, key string, revision uint64) error {
	return t.bus.Delete(ctx, t.bucket, key, revision)
}

// List returns all valid records whose keys match the filter (">" for all), in
// no particular order.
func (t *Table[T]) List(ctx context.Context, filter string) ([]Record[T], error) {
	kv, err := t.bus.JetStream().KeyValue(ctx, t.bucket)
	if err != nil {
		return nil, t.listError(err)
	}
	w, err := kv.Watch(ctx, filter, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, t.listError(err)
	}
	defer func() { _ = w.Stop() }()
	var out []Record[T]
	for {
		select {
		case <-ctx.Done():
			return nil, t.listError(ctx.Err())
		case e, ok := <-w.Updates():
			if !ok {
				return nil, t.listError(jetstream.ErrConsumerDeleted)
			}
			if e == nil {
				return out, nil
			}
			if r, err := t.decode(e.Key(), e.Value(), e.Revision()); err == nil {
				out = append(out, r)
			}
		}
	}
}

func (t *Table[T]) listError(err error) error {
	kind := fault.KindOf(err)
	if kind == fault.Internal {
		kind = fault.Transient // the connection, or no bucket yet
	}
	return fault.Errorf(kind, "cannot list bucket %q: %w", t.bucket, err)
}

func (t *Table[T]) decode(key string, raw []byte, rev uint64) (Record[T], error) {
	r := Record[T]{Key: key, Revision: rev}
	if err := json.Unmarshal(raw, &r.Value); err != nil {
		return Record[T]{}, fault.Errorf(fault.Corrupt, "cannot decode key %q of bucket %q: %w", key, t.bucket, err)
	}
	if err := t.check(r.Value, key); err != nil {
		return Record[T]{}, fmt.Errorf("cannot use key %q of bucket %q: %w", key, t.bucket, err)
	}
	return r, nil
}

func (t *Table[T]) checked(key string, value T) error {
	if err := t.check(value, key); err != nil {
		return fmt.Errorf("cannot write key %q of bucket %q: %w", key, t.bucket, err)
	}
	return nil
}

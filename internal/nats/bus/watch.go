package bus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// An EventKind is the kind of an Event.
type EventKind int

// The kinds of events.
const (
	Changed EventKind = iota // Key has Value now
	Gone                     // Key was deleted or has expired
	Synced                   // all existing keys were reported; Key is empty. Repeated after each reconnect
)

// An Event is one change in a bucket.
type Event[T any] struct {
	Kind     EventKind
	Key      string
	Value    T
	Revision uint64
}

// Watch calls handle for every key of the bucket that matches filter (">" for
// all), then with Synced, then for each change, until ctx ends; it returns only
// then. After a loss of the connection it lists everything again, and reports
// Gone for keys that have disappeared. A key whose value cannot be decoded to T
// counts as deleted, so that no older value stays in force. Watch calls handle
// from one goroutine, and waits while handle blocks.
func Watch[T any](ctx context.Context, b *Bus, bucket, filter string, handle func(Event[T])) {
	w := &watcher[T]{bus: b, bucket: bucket, filter: filter, handle: handle, known: map[string]version{}}
	for attempt := 0; ctx.Err() == nil; {
		again, err := w.run(ctx)
		if again {
			attempt = 0
			continue
		}
		if err != nil && ctx.Err() == nil {
			b.log.Debug("cannot watch a bucket yet", "bucket", bucket, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(Backoff(attempt)):
		}
		attempt++
	}
}

type watcher[T any] struct {
	bus    *Bus
	bucket string
	filter string
	handle func(Event[T])
	known  map[string]version // keys that handle knows
}

// A version identifies a value of a key. A store that was restored gives its revisions again
// to other values, which were created at another time.
type version struct {
	revision uint64
	created  int64 // in nanoseconds
}

func versionOf(e jetstream.KeyValueEntry) version {
	return version{e.Revision(), e.Created().UnixNano()}
}

// run watches until the connection was restored (true) or an error occurred.
func (w *watcher[T]) run(ctx context.Context) (bool, error) {
	reconnected := w.bus.Reconnected()
	kv, err := w.bus.bucket(ctx, w.bucket)
	if err != nil {
		return false, err
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	updates, err := w.begin(watching, cancel, kv)
	if err != nil {
		return false, Kinded(err)
	}
	defer stop(updates)
	seen := map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-reconnected:
			return true, nil
		case entry, ok := <-updates.Updates():
			if !ok {
				return false, nil
			}
			if entry == nil {
				w.forget(seen)
				seen = nil
				w.handle(Event[T]{Kind: Synced})
				continue
			}
			if seen != nil && entry.Operation() == jetstream.KeyValuePut {
				seen[entry.Key()] = true
			}
			w.notify(entry)
		}
	}
}

// begin starts a watch that lasts as long as its context. Only its setup has a timeout.
func (w *watcher[T]) begin(ctx context.Context, cancel func(), kv jetstream.KeyValue) (jetstream.KeyWatcher, error) {
	w.bus.watching.RLock()
	defer w.bus.watching.RUnlock()
	if !w.bus.Connected() {
		return nil, nats.ErrDisconnected
	}
	patience := time.AfterFunc(dialTimeout, cancel)
	defer patience.Stop()
	return kv.Watch(ctx, w.filter)
}

// forget reports the known keys that are missing in a full listing.
func (w *watcher[T]) forget(seen map[string]bool) {
	if seen == nil {
		return
	}
	for key := range w.known {
		if !seen[key] {
			delete(w.known, key)
			w.handle(Event[T]{Kind: Gone, Key: key})
		}
	}
}

func (w *watcher[T]) notify(entry jetstream.KeyValueEntry) {
	key := entry.Key()
	if entry.Operation() != jetstream.KeyValuePut {
		w.gone(key, entry.Revision())
		return
	}
	if known, ok := w.known[key]; ok && known == versionOf(entry) {
		return // reported before the connection was lost
	}
	value, err := decodeValue[T](entry.Value())
	if err != nil {
		w.bus.log.Warn("cannot decode a key, which counts as deleted", "bucket", w.bucket, "key", key, "error", err)
		w.gone(key, entry.Revision())
		return
	}
	w.known[key] = versionOf(entry)
	w.handle(Event[T]{Kind: Changed, Key: key, Value: value, Revision: entry.Revision()})
}

// gone reports that a key has no valid value any more, if it had one.
func (w *watcher[T]) gone(key string, revision uint64) {
	if _, ok := w.known[key]; ok {
		delete(w.known, key)
		w.handle(Event[T]{Kind: Gone, Key: key, Revision: revision})
	}
}

// decodeValue decodes a value. The JSON null is none: as a T it would be a record
// without any restriction.
func decodeValue[T any](data []byte) (value T, err error) {
	if string(bytes.TrimSpace(data)) == "null" {
		return value, errors.New("the value is null")
	}
	err = json.Unmarshal(data, &value)
	return value, err
}

// stop ends a watch. The sender may be blocked on a full channel, so stop reads
// until the channel closes.
func stop(w jetstream.KeyWatcher) {
	_ = w.Stop()
	go func() {
		for range w.Updates() {
		}
	}()
}

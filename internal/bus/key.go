package bus

import (
	"bytes"
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

const (
	// keyAge is the time after which WatchKey reads a key again.
	keyAge = 15 * time.Second
	// keyLag is the same after a write, because a replica may answer a read before it
	// has the write.
	keyLag = time.Second
)

// WatchKey is Watch for a single key, for users that may read no other and may make no
// consumers: it reads the key at once, after each message that is published on its
// subject, after a loss of the connection, and every keyAge.
func WatchKey[T any](ctx context.Context, b *Bus, bucket, key string, handle func(Event[T])) {
	w := &keyWatcher[T]{bus: b, bucket: bucket, key: key, handle: handle}
	news := make(chan *nats.Msg, 1) // more than one are no news
	if sub, err := b.nc.ChanSubscribe(names.KVSubject(bucket, key), news); err == nil {
		defer func() { _ = sub.Unsubscribe() }()
	}
	pause := keyAge
	for attempt := 0; ; {
		reconnected := b.Reconnected()
		if err := w.read(ctx); err != nil {
			b.log.Debug("cannot read a key yet", "bucket", bucket, "key", key, "error", err)
			pause = Backoff(attempt)
			attempt++
		} else {
			attempt = 0
		}
		select {
		case <-ctx.Done():
			return
		case <-reconnected:
			pause = keyAge
		case <-news:
			pause = keyLag
		case <-time.After(pause):
			pause = keyAge
		}
	}
}

type keyWatcher[T any] struct {
	bus         *Bus
	bucket, key string
	handle      func(Event[T])
	revision    uint64 // that handle knows; 0: none
	data        []byte // of the revision, which a restored store gives again to another value
	synced      bool
}

// read reports the key if it has changed.
func (w *keyWatcher[T]) read(ctx context.Context) error {
	data, revision, err := w.bus.read(ctx, w.bucket, w.key)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	var value T
	if err == nil {
		if value, err = decodeValue[T](data); err != nil {
			w.bus.log.Warn("cannot decode a key, which counts as deleted", "bucket", w.bucket, "key", w.key, "error", err)
		}
	}
	switch {
	case err == nil && (revision != w.revision || !bytes.Equal(data, w.data)):
		w.revision, w.data = revision, data
		w.handle(Event[T]{Kind: Changed, Key: w.key, Value: value, Revision: revision})
	case err != nil && w.revision != 0:
		w.revision, w.data = 0, nil
		w.handle(Event[T]{Kind: Gone, Key: w.key})
	}
	if !w.synced {
		w.synced = true
		w.handle(Event[T]{Kind: Synced, Key: w.key})
	}
	return nil
}

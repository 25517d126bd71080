package bus

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// keys are the key-value buckets of a connection.
type keys struct {
	conn     *connection
	messages *messages

	mu      sync.Mutex
	buckets map[string]jetstream.KeyValue // handles of those in use
}

// Each function below makes one attempt of at most apiTimeout.

// Put writes a value as JSON and returns its revision, which grows with each
// write to the bucket.
func (k *keys) Put(ctx context.Context, bucket, key string, value any) (uint64, error) {
	return k.write(ctx, bucket, key, value, 0, nil)
}

// PutTTL is like Put for a key that expires after ttl (whole seconds, at least
// one) unless it is written again.
func (k *keys) PutTTL(ctx context.Context, bucket, key string, value any, ttl time.Duration) (uint64, error) {
	return k.write(ctx, bucket, key, value, ttl, nil)
}

// Create writes a key that does not exist, with a TTL if ttl is not 0. Errors:
// Conflict if it exists.
func (k *keys) Create(ctx context.Context, bucket, key string, value any, ttl time.Duration) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	kv, err := k.bucket(ctx, bucket)
	if err != nil {
		return 0, err
	}
	data, err := json.Marshal(value)
	if err != nil {
		return 0, fault.Errorf(fault.Internal, "cannot encode key %q: %w", key, err)
	}
	var opts []jetstream.KVCreateOpt
	if ttl > 0 {
		opts = append(opts, jetstream.KeyTTL(ttl))
	}
	rev, err := permitted(ctx, &k.conn.permits, names.KVSubject(bucket, key), func(ctx context.Context) (uint64, error) {
		return kv.Create(ctx, key, data, opts...)
	})
	if err != nil {
		return 0, kvError("create", bucket, key, err)
	}
	return rev, nil
}

// Update replaces the value of a revision, with a TTL if ttl is not 0. Errors:
// Conflict if the key has changed.
func (k *keys) Update(ctx context.Context, bucket, key string, value any, revision uint64, ttl time.Duration) (uint64, error) {
	return k.write(ctx, bucket, key, value, ttl, &revision)
}

// Get reads a value and its revision. Errors: NotFound.
func Get[T any](ctx context.Context, b *Bus, bucket, key string) (T, uint64, error) {
	var value T
	data, revision, err := b.read(ctx, bucket, key)
	if err != nil {
		return value, 0, err
	}
	if err := json.Unmarshal(data, &value); err != nil {
		return value, 0, fault.Errorf(fault.Corrupt, "cannot decode key %q of bucket %q: %w", key, bucket, err)
	}
	return value, revision, nil
}

// Delete deletes a key if it exists. With a revision other than 0, which unacknowledged
// buckets do not take, it deletes only that revision. Errors: Conflict if the key has changed.
func (k *keys) Delete(ctx context.Context, bucket, key string, revision uint64) error {
	if revision != 0 {
		return k.remove(ctx, bucket, key, 0, &revision)
	}
	return k.remove(ctx, bucket, key, 0, nil)
}

// DeleteTTL is like Delete for a key that is never written again: after ttl (whole
// seconds, at least one) nothing is left of it.
func (k *keys) DeleteTTL(ctx context.Context, bucket, key string, ttl time.Duration) error {
	return k.remove(ctx, bucket, key, ttl, nil)
}

func (k *keys) remove(ctx context.Context, bucket, key string, ttl time.Duration, only *uint64) error {
	m := &nats.Msg{Header: nats.Header{operationHeader: {deleted}}}
	if _, err := k.store(ctx, bucket, key, m, ttl, only); err != nil {
		return kvError("delete", bucket, key, err)
	}
	return nil
}

func (k *keys) write(ctx context.Context, bucket, key string, value any, ttl time.Duration, only *uint64) (uint64, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return 0, fault.Errorf(fault.Internal, "cannot encode key %q: %w", key, err)
	}
	revision, err := k.store(ctx, bucket, key, &nats.Msg{Header: nats.Header{}, Data: data}, ttl, only)
	if err != nil {
		return 0, kvError("write", bucket, key, err)
	}
	return revision, nil
}

// store stores a message as the last one of a key, with a TTL if ttl is not 0. With only, it
// replaces that revision and no other.
func (k *keys) store(ctx context.Context, bucket, key string, m *nats.Msg, ttl time.Duration, only *uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	m.Subject = names.KVSubject(bucket, key)
	if ttl > 0 {
		m.Header.Set(jetstream.MsgTTLHeader, ttl.String())
	}
	if isUnacknowledged(bucket) {
		if only != nil {
			return 0, errConditional
		}
		return permitted(ctx, &k.conn.permits, m.Subject, func(ctx context.Context) (uint64, error) {
			return k.publishStored(ctx, bucket, key, m)
		})
	}
	var opts []jetstream.PublishOpt
	if only != nil {
		opts = append(opts, jetstream.WithExpectLastSequencePerSubject(*only))
	}
	ack, err := permitted(ctx, &k.conn.permits, m.Subject, func(ctx context.Context) (*jetstream.PubAck, error) {
		return k.conn.js.PublishMsg(ctx, m, opts...)
	})
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// bucket returns the cached handle of a bucket.
func (k *keys) bucket(ctx context.Context, name string) (jetstream.KeyValue, error) {
	k.mu.Lock()
	kv := k.buckets[name]
	k.mu.Unlock()
	if kv != nil {
		return kv, nil
	}
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	kv, err := permitted(ctx, &k.conn.permits, streamAPI+"INFO."+names.KVStream(name), func(ctx context.Context) (jetstream.KeyValue, error) {
		return k.conn.js.KeyValue(ctx, name)
	})
	if err != nil {
		return nil, fault.Errorf(fault.KindOf(Kinded(err)), "cannot open bucket %q: %w", name, err)
	}
	k.mu.Lock()
	k.buckets[name] = kv
	k.mu.Unlock()
	return kv, nil
}

func kvError(verb, bucket, key string, err error) error {
	return fault.Errorf(fault.KindOf(Kinded(err)), "cannot %s key %q of bucket %q: %w", verb, key, bucket, err)
}

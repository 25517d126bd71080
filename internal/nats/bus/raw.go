package bus

import (
	"context"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// GetBytes reads the stored bytes of a value, and its revision. Errors: NotFound.
func (k *keys) GetBytes(ctx context.Context, bucket, key string) ([]byte, uint64, error) {
	return k.read(ctx, bucket, key)
}

// PutBytes stores bytes as a value, and returns its revision. With a revision
// other than 0 it replaces only that revision. Errors: Conflict if the key has
// changed.
func (k *keys) PutBytes(ctx context.Context, bucket, key string, value []byte, revision uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	kv, err := k.bucket(ctx, bucket)
	if err != nil {
		return 0, err
	}
	rev, err := permitted(ctx, &k.conn.permits, names.KVSubject(bucket, key), func(ctx context.Context) (uint64, error) {
		if revision == 0 {
			return kv.Put(ctx, key, value)
		}
		return kv.Update(ctx, key, value, revision)
	})
	if err != nil {
		return 0, fault.As(fault.KindOf(Kinded(err)), kvError("write", bucket, key, err))
	}
	return rev, nil
}

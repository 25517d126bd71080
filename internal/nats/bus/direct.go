package bus

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
)

// The headers of a message that JetStream returns for a direct get, and those of a
// key that was deleted or has expired (NATS ADR-31, ADR-8 and ADR-43).
const (
	sequenceHeader  = "Nats-Sequence"
	operationHeader = "KV-Operation"
	markerHeader    = "Nats-Marker-Reason"
	statusHeader    = "Status"
	notFound        = "404"
	deleted         = "DEL"
)

// read returns the last value of a key. It asks for the key by the subject of the
// request alone, so that a user may have the right to read one key and no other
// rights on the bucket. Errors: NotFound.
func (k *keys) read(ctx context.Context, bucket, key string) ([]byte, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	if !validKey(key) {
		return nil, 0, kvError("read", bucket, key, jetstream.ErrInvalidKey)
	}
	m, err := k.messages.Request(ctx, "$JS.API.DIRECT.GET."+names.KVStream(bucket)+"."+names.KVSubject(bucket, key), nil)
	if errors.Is(err, nats.ErrNoResponders) {
		return k.readIndirect(ctx, bucket, key)
	}
	if err != nil {
		return nil, 0, kvError("read", bucket, key, err)
	}
	switch status := m.Header.Get(statusHeader); {
	case status == notFound, m.Header.Get(operationHeader) != "", m.Header.Get(markerHeader) != "":
		return nil, 0, kvError("read", bucket, key, jetstream.ErrKeyNotFound)
	case status != "":
		return nil, 0, fault.Errorf(fault.Transient, "cannot read key %q of bucket %q: status %s %s", key, bucket, status, m.Header.Get("Description"))
	}
	revision, err := strconv.ParseUint(m.Header.Get(sequenceHeader), 10, 64)
	if err != nil {
		return nil, 0, fault.Errorf(fault.Corrupt, "cannot read key %q of bucket %q: %w", key, bucket, err)
	}
	return m.Data, revision, nil
}

// readIndirect reads a key of a bucket without direct gets, such as one that another
// program has made, and says why there is no bucket.
func (k *keys) readIndirect(ctx context.Context, bucket, key string) ([]byte, uint64, error) {
	kv, err := k.bucket(ctx, bucket)
	if err != nil {
		return nil, 0, err
	}
	e, err := kv.Get(ctx, key)
	if err != nil {
		return nil, 0, kvError("read", bucket, key, err)
	}
	return e.Value(), e.Revision(), nil
}

// validKey reports whether key is valid as NATS clients have it.
func validKey(key string) bool {
	for token := range strings.SplitSeq(key, ".") {
		if token == "" || strings.ContainsFunc(token, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-/_=", r)
		}) {
			return false
		}
	}
	return true
}

package bus

import (
	"context"
	"errors"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/names"
)

// writeHeader marks a write, so that the writer knows what the server stored as its own.
const writeHeader = "Koldun-Write"

// publishStored writes a message to an unacknowledged bucket, and waits until the server
// publishes that it has stored it. It returns the sequence. A bucket of an earlier version
// acknowledges the write instead. Errors: nats.ErrNoResponders if there is no bucket.
func (k *keys) publishStored(ctx context.Context, bucket, key string, m *nats.Msg) (uint64, error) {
	news := make(chan *nats.Msg, 8) // of few writers of one key
	m.Reply = k.conn.nc.NewInbox()
	for _, subject := range []string{names.StoredSubject(bucket, key), m.Reply} {
		sub, err := k.conn.nc.ChanSubscribe(subject, news)
		if err != nil {
			return 0, err
		}
		defer func() { _ = sub.Unsubscribe() }()
	}
	m.Header.Set(writeHeader, m.Reply)
	if err := k.conn.nc.PublishMsg(m); err != nil {
		return 0, err
	}
	for {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case got := <-news:
			switch {
			case got.Header.Get(writeHeader) == m.Reply:
				return strconv.ParseUint(got.Header.Get(sequenceHeader), 10, 64)
			case got.Subject == m.Reply:
				return acknowledged(got)
			}
		}
	}
}

// acknowledged reads the server's answer to a write.
func acknowledged(m *nats.Msg) (uint64, error) {
	if m.Header.Get(statusHeader) == noResponders {
		return 0, nats.ErrNoResponders
	}
	var ack struct {
		Error *jetstream.APIError `json:"error"`
		jetstream.PubAck
	}
	if err := decode(m.Data, &ack); err != nil {
		return 0, err
	}
	if ack.Error != nil {
		return 0, ack.Error
	}
	return ack.Sequence, nil
}

// errConditional is the error of a conditional write to a bucket whose server would not say
// that the condition does not hold.
var errConditional = errors.New("the bucket acknowledges no writes, so none can have a condition") //nolint:gochecknoglobals // a sentinel

// isUnacknowledged reports whether the server answers no writes to a bucket of package names.
func isUnacknowledged(bucket string) bool {
	b, ok := Bucket(bucket)
	return ok && b.Unacknowledged
}

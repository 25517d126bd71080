package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/names"
)

// newestTry bounds one question: a stream that is electing a leader does not
// answer, and whoever asks should soon ask again.
const newestTry = 2 * time.Second

// newest is the sequence of the last request whose subject the filter matches,
// 0 if there is none. The leader of the stream answers; the newer client
// interface would ask any server that has a copy, because the stream allows
// direct reads.
func (b *Bus) newest(ctx context.Context, filter string) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, newestTry)
	defer cancel()
	js, err := b.nc.JetStream()
	if err != nil {
		return 0, fmt.Errorf("cannot ask for the newest request: %w", kinded(err))
	}
	msg, err := js.GetLastMsg(names.RequestStream, filter, nats.Context(ctx))
	switch {
	case errors.Is(err, nats.ErrMsgNotFound):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("cannot ask for the newest request: %w", kinded(err))
	}
	return msg.Sequence, nil
}

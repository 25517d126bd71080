package history

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

// Outcomes reads all terminal records, by request id.
func Outcomes(ctx context.Context, b *bus.Bus) (map[string][]queue.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(10*time.Second))
	defer cancel()
	consumer, err := b.JetStream().OrderedConsumer(ctx, names.OutcomeStream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return nil, err
	}
	counted, err := consumer.Info(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string][]queue.Outcome{}
	for range counted.NumPending {
		msg, err := consumer.Next()
		if err != nil {
			return nil, err
		}
		var o queue.Outcome
		if err := json.Unmarshal(msg.Data(), &o); err != nil {
			return nil, err
		}
		if o.State != "" { // otherwise it is a record of failed attempts
			all[o.Request] = append(all[o.Request], o)
		}
	}
	return all, nil
}

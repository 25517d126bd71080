package serving_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/queue"
	"github.com/gorizond/koldun/internal/waittest"
)

// leader is the dispatcher that leads now, or any if none does.
func (s *stack) leader(t *testing.T) *process {
	t.Helper()
	for i, addr := range s.health {
		if metric(t, addr, "koldun_dispatcher_sessions") == "1" {
			return s.dispatchers[i]
		}
	}
	return s.dispatchers[0]
}

// settle waits until nothing is queued, and collects what was recorded.
func (s *stack) settle(t *testing.T, h *history) {
	t.Helper()
	b := s.bus()
	waittest.Until(t, "the queue to be empty", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		stream, err := b.JetStream().Stream(ctx, names.RequestStream)
		if err != nil {
			return false
		}
		h.queued = stream.CachedInfo().State.Msgs
		return h.queued == 0
	})
	waittest.Until(t, "the outcomes", func() bool {
		all, err := outcomes(t.Context(), b)
		h.outcomes = all
		return err == nil
	})
	h.generations = s.generations()
	h.mentions = s.mentions
}

// outcomes reads the whole stream of terminal records.
func outcomes(ctx context.Context, b *bus.Bus) (map[string][]queue.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	consumer, err := b.JetStream().OrderedConsumer(ctx, names.OutcomeStream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return nil, err
	}
	left, err := consumer.Info(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string][]queue.Outcome{}
	for range left.NumPending {
		msg, err := consumer.Next()
		if err != nil {
			return nil, err
		}
		var o queue.Outcome
		if err := json.Unmarshal(msg.Data(), &o); err != nil {
			return nil, err
		}
		if o.State != "" { // else it tells of failed attempts
			all[o.Request] = append(all[o.Request], o)
		}
	}
	return all, nil
}

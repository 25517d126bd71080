package serving_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/queue"
	"github.com/gorizond/koldun/internal/waittest"
)

// leader returns the dispatcher that holds a lease, or the first if none does.
func (s *stack) leader(t *testing.T) *process {
	t.Helper()
	for i, addr := range s.health {
		if metric(t, addr, "koldun_dispatcher_sessions") == "1" {
			return s.dispatchers[i]
		}
	}
	return s.dispatchers[0]
}

// collect waits until the queue is empty, and adds the recorded outcomes and
// generations to h.
func (s *stack) collect(t *testing.T, h *history) {
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
	h.logLines = s.logLines
}

// outcomes reads all terminal records, by request id.
func outcomes(ctx context.Context, b *bus.Bus) (map[string][]queue.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
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

// metric returns one value of the /metrics of a process, or "" if it is missing.
func metric(tb testing.TB, addr, name string) string {
	tb.Helper()
	resp, err := (&http.Client{Timeout: 2 * time.Second}).Get("http://" + addr + "/metrics")
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

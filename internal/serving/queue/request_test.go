package queue_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

func TestPublishRequest(t *testing.T) {
	srv := natstest.Start(t)
	b := connect(t, srv)
	ctx := testContext(t)

	first, err := b.Publish(ctx, request("req_1"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Publish(ctx, request("req_1"))
	if err != nil || again != first {
		t.Errorf("the same request again: sequence %d, %v; want %d", again, err, first)
	}

	bad := request("req.2")
	if _, err := b.Publish(ctx, bad); !fault.Is(err, fault.Invalid) {
		t.Errorf("an id with a dot: %v, want Invalid", err)
	}
	huge := request("req_3")
	huge.Body = []byte(`"` + strings.Repeat("x", names.RequestMaxSize) + `"`)
	if _, err := b.Publish(ctx, huge); !fault.Is(err, fault.Invalid) {
		t.Errorf("a huge request: %v, want Invalid", err)
	}

	spec := bus.Streams()[0]
	spec.MaxPerSubject = 2
	spec.MaxMsgs = 3
	if err := b.EnsureStream(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Publish(ctx, request("req_4")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Publish(ctx, request("req_5")); !errors.Is(err, queue.ErrTenantFull) || !fault.Is(err, fault.Quota) {
		t.Errorf("third request of a tenant: %v, want %v", err, queue.ErrTenantFull)
	}
	other := request("req_6")
	other.Tenant = "u"
	if _, err := b.Publish(ctx, other); err != nil {
		t.Fatal(err)
	}
	other.ID, other.Tenant = "req_7", "v"
	if _, err := b.Publish(ctx, other); !errors.Is(err, queue.ErrQueueFull) {
		t.Errorf("fourth request in all: %v, want %v", err, queue.ErrQueueFull)
	}
	if err := b.Queue.Delete(ctx, first); err != nil {
		t.Fatal(err)
	}
	if err := b.Queue.Delete(ctx, first); err != nil {
		t.Errorf("deleted twice: %v", err)
	}
	if _, err := b.Publish(ctx, other); err != nil {
		t.Errorf("room again: %v", err)
	}

	if err := b.JetStream().DeleteStream(ctx, names.RequestStream); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Publish(ctx, request("req_8")); !fault.Is(err, fault.Transient) {
		t.Errorf("no stream: %v, want Transient", err)
	}
}

func requestStream(t *testing.T, b client) jetstream.StreamConfig {
	t.Helper()
	s, err := b.JetStream().Stream(testContext(t), names.RequestStream)
	if err != nil {
		t.Fatal(err)
	}
	return s.CachedInfo().Config
}

// Publish waits for a stream that exists and does not answer, because it has no
// leader or its subjects are being changed.
func TestPublishRequestWaitsForTheStream(t *testing.T) {
	b := connect(t, natstest.Start(t))
	ctx := testContext(t)
	config := requestStream(t, b)
	config.Subjects = []string{"elsewhere"}
	if _, err := b.JetStream().UpdateStream(ctx, config); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if _, err := b.Publish(short, request("req_1")); !fault.Is(err, fault.Transient) || short.Err() == nil {
		t.Errorf("no answer: %v, want Transient at the deadline", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := b.Publish(ctx, request("req_2"))
		done <- err
	}()
	config.Subjects = []string{names.RequestSubjects}
	if _, err := b.JetStream().UpdateStream(ctx, config); err != nil {
		t.Fatal(err)
	}
	if err := waittest.Receive(t, "the request is stored", done); err != nil {
		t.Error(err)
	}
}

// Delete returns an error if the server refuses to delete the message.
func TestDeleteRequest(t *testing.T) {
	b := connect(t, natstest.Start(t))
	ctx := testContext(t)
	config := requestStream(t, b)
	seq, err := b.Publish(ctx, request("req_1"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it does not exist
		if err := b.Queue.Delete(ctx, seq); err != nil {
			t.Error(err)
		}
	}
	if err := b.Queue.Delete(ctx, seq+10); err != nil {
		t.Errorf("beyond the end: %v", err)
	}
	config.DenyDelete = true
	if _, err := b.JetStream().UpdateStream(ctx, config); err != nil {
		t.Fatal(err)
	}
	if seq, err = b.Publish(ctx, request("req_2")); err != nil {
		t.Fatal(err)
	}
	if err := b.Queue.Delete(ctx, seq); err == nil {
		t.Error("Delete succeeds for a message that the server keeps")
	}
}

func TestOneOutcomePerRequest(t *testing.T) {
	b := connect(t, natstest.Start(t))
	ctx := testContext(t)
	ref := request("req_1").Ref()
	if _, err := b.Outcome(ctx, ref); !fault.Is(err, fault.NotFound) {
		t.Errorf("outcome before the end: %v, want NotFound", err)
	}
	o := queue.Outcome{Request: ref.ID, Session: ref.Session, Tenant: ref.Tenant, State: queue.Completed, Ended: time.Now().UTC()}
	if err := b.PublishOutcome(ctx, o, 0); err != nil {
		t.Fatal(err)
	}
	late := o
	late.State = queue.Failed
	if err := b.PublishOutcome(ctx, late, 0); !fault.Is(err, fault.Conflict) {
		t.Errorf("second outcome: %v, want Conflict", err)
	}
	got, err := b.Outcome(ctx, ref)
	if err != nil || got.State != queue.Completed {
		t.Errorf("outcome = %+v, %v; want the first", got, err)
	}
}

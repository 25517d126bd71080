package queue_test

import (
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/keyvalue"
	"github.com/gorizond/koldun/internal/external/queue"
	"github.com/gorizond/koldun/internal/external/stream"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
)

func client(t *testing.T) (*bus.Bus, *queue.Client) {
	t.Helper()
	s := natstest.Start(t)
	b, err := bus.Connect(t.Context(), bus.Config{URL: s.URL(), User: natstest.User, Password: natstest.Password, Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b, queue.New(stream.New(b, nil), keyvalue.New(b, nil), map[string][]byte{"NATS_URL": []byte("nats://x")})
}

func TestLifeOfAQueue(t *testing.T) {
	ctx := t.Context()
	b, c := client(t)
	spec := queue.Spec{
		Streams:   []stream.Spec{{Name: "WORK", Subjects: []string{"work.>"}, MaxBytes: 1 << 20}},
		KeyValues: []keyvalue.Spec{{Bucket: "a"}, {Bucket: "b"}},
	}
	observe := func() external.Observation[queue.Status] {
		t.Helper()
		o, err := c.Observe(ctx, spec)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	if o := observe(); o.Exists || o.Ready || o.Message == "" {
		t.Errorf("Observe of nothing: %+v", o)
	}
	for range 2 { // may be repeated
		if err := c.Create(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	if o := observe(); !o.Exists || !o.UpToDate || !o.Ready || !o.Status.Configured || string(o.Connection["NATS_URL"]) != "nats://x" {
		t.Errorf("Observe after Create: %+v", o)
	}
	if _, err := b.Put(ctx, "a", "kept", 1); err != nil {
		t.Fatal(err)
	}

	// One part is deleted, and another one has to change.
	if err := b.Manager().DeleteKV(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	minute := external.Duration(time.Minute)
	spec.KeyValues[0].LimitMarkerTTL = &minute
	if o := observe(); !o.Exists || o.UpToDate || o.Ready || o.Message != `key-value bucket "b" does not exist` {
		t.Errorf("Observe of a queue that lost a bucket: %+v", o)
	}
	if err := c.Update(ctx, spec); err != nil {
		t.Fatal(err)
	}
	if o := observe(); !o.UpToDate || !o.Ready {
		t.Errorf("Observe after Update: %+v", o)
	}
	if _, _, err := bus.Get[int](ctx, b, "a", "kept"); err != nil {
		t.Errorf("get key after Update: %v", err)
	}

	for range 2 { // no queue is no error
		if err := c.Delete(ctx, spec); err != nil {
			t.Fatal(err)
		}
	}
	if o := observe(); o.Exists {
		t.Errorf("Observe after Delete: %+v", o)
	}
}

func TestObserveWithoutServer(t *testing.T) {
	b, c := client(t)
	b.Close()
	if o, err := c.Observe(t.Context(), queue.Spec{KeyValues: []keyvalue.Spec{{Bucket: "a"}}}); err == nil || fault.Is(err, fault.NotFound) {
		t.Errorf("Observe = %+v, %v, want an error other than NotFound", o, err)
	}
}

// TestNoQueueBreaksAnother has two queues share a stream: a small one must not have the
// stream refuse what the other one needs, and a greater one raises it.
func TestNoQueueBreaksAnother(t *testing.T) {
	ctx := t.Context()
	b, c := client(t)
	sized := func(bytes, messages int64, size int32) queue.Spec {
		return queue.Spec{Streams: []stream.Spec{{Name: "WORK", Subjects: []string{"work.>"}, Discard: "new", MaxBytes: bytes, MaxMsgs: messages, MaxMsgSize: size, MaxMsgsPerSubject: messages}}}
	}
	for _, step := range []struct {
		name         string
		queue        queue.Spec
		bytes, count int64
		size         int32
	}{
		{"Victim", sized(2<<20, 100, 1000), 2 << 20, 100, 1000},
		{"Attacker", sized(1, 1, 1), 2 << 20, 100, 1000},
		{"Greater", sized(4<<20, 200, 0), 4 << 20, 200, 1000},
		{"VictimAgain", sized(2<<20, 100, 1000), 4 << 20, 200, 1000},
	} {
		if err := c.Update(ctx, step.queue); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		have, err := b.Manager().ViewStream(ctx, "WORK")
		if err != nil {
			t.Fatal(err)
		}
		if have.MaxBytes != step.bytes || have.MaxMsgs != step.count || have.MaxMsgSize != step.size || have.MaxPerSubject != step.count {
			t.Errorf("%s: the stream is %+v", step.name, have.Stream)
		}
		if o, err := c.Observe(ctx, step.queue); err != nil || !o.UpToDate || !o.Ready {
			t.Errorf("%s: %+v, %v", step.name, o, err)
		}
		if seen, err := c.View(ctx, step.queue, external.SpecFields); err != nil || len(seen.Streams) != 1 || seen.Streams[0].MaxBytes != step.queue.Streams[0].MaxBytes {
			t.Errorf("%s: it is seen as %+v, %v, and would never agree with its spec", step.name, seen, err)
		}
	}
}

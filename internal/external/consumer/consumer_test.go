package consumer_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/external"
	"github.com/gorizond/koldun/internal/external/consumer"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

func connect(t *testing.T) (*natstest.Server, *bus.Bus) {
	t.Helper()
	s := natstest.Start(t)
	b, err := bus.Connect(t.Context(), bus.Config{URL: s.URL(), User: natstest.User, Password: natstest.Password, Name: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if err := b.EnsureStream(t.Context(), bus.StreamSpec{Stream: names.Stream{Name: "WORK", Subjects: []string{"work.>"}}}); err != nil {
		t.Fatal(err)
	}
	return s, b
}

func duration(d time.Duration) *external.Duration {
	e := external.Duration(d)
	return &e
}

func config(t *testing.T, b *bus.Bus) jetstream.ConsumerConfig {
	t.Helper()
	c, err := b.JetStream().Consumer(t.Context(), "WORK", "w")
	if err != nil {
		t.Fatal(err)
	}
	return c.CachedInfo().Config
}

// TestConsumersOnForeignStreams has namespaces that share a login make consumers on each
// other's streams.
func TestConsumersOnForeignStreams(t *testing.T) {
	ctx := t.Context()
	_, b := connect(t)
	for name, owner := range map[string]string{"VICTIM": "victim", "MINE": "hostile"} {
		own := bus.Ownership{Metadata: map[string]string{external.OwnerKey: owner}}
		if err := b.EnsureStream(ctx, bus.StreamSpec{Stream: names.Stream{Name: name, Subjects: []string{name + ".>"}}, Ownership: own}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	c := consumer.New(b, nil)
	hostile := external.Owner{Namespace: "hostile", Common: true}
	for name, want := range map[string]struct {
		stream  string
		owner   external.Owner
		refused string
	}{
		"Foreign":       {"VICTIM", hostile, `stream "VICTIM" belongs to namespace "victim"`},
		"ForeignAlone":  {"VICTIM", external.Owner{Namespace: "hostile"}, `stream "VICTIM" belongs to namespace "victim"`},
		"Owner":         {"VICTIM", external.Owner{Namespace: "victim", Common: true}, ""},
		"Mine":          {"MINE", hostile, ""},
		"Ownerless":     {"WORK", hostile, ""},
		"Requests":      {names.RequestStream, hostile, "has no owner"},
		"Tokens":        {names.KVStream(names.TokensBucket), hostile, "has no owner"},
		"RequestsAlone": {names.RequestStream, external.Owner{Namespace: "hostile"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := consumer.Spec{Stream: want.stream, Name: name, Owner: want.owner}
			_, observed := c.Observe(ctx, s)
			for verb, err := range map[string]error{"observe": observed, "create": c.Create(ctx, s), "update": c.Update(ctx, s), "delete": c.Delete(ctx, s)} {
				if want.refused == "" && err != nil || want.refused != "" && (!errors.Is(err, external.ErrNotOwner) || !strings.Contains(err.Error(), want.refused)) {
					t.Errorf("%s: %v, want %q", verb, err, want.refused)
				}
			}
			s.Owner.Deleting = true
			if o, err := c.Observe(ctx, s); err != nil || o.Exists {
				t.Errorf("while it is deleted: exists %v, %v", o.Exists, err)
			}
		})
	}
}

func TestLifeOfAConsumer(t *testing.T) {
	ctx := t.Context()
	_, b := connect(t)
	c := consumer.New(b, map[string][]byte{"NATS_URL": []byte("nats://x")})
	s := consumer.Spec{Stream: "WORK", Name: "w", FilterSubjects: []string{"work.a"}}
	if o, err := c.Observe(ctx, s); err != nil || o.Exists {
		t.Fatalf("Observe of nothing: %+v, %v", o, err)
	}
	for range 2 {
		if err := c.Create(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	o, err := c.Observe(ctx, s)
	if err != nil || !o.Exists || !o.UpToDate || !o.Ready || o.Status.Created == nil || len(o.Connection) != 1 {
		t.Fatalf("Observe after Create: %+v, %v", o, err)
	}
	// It has read one message: a change must not make it read that again.
	if _, err := b.JetStream().Publish(ctx, "work.a", nil); err != nil {
		t.Fatal(err)
	}
	pull, err := b.JetStream().Consumer(ctx, "WORK", "w")
	if err != nil {
		t.Fatal(err)
	}
	msg, err := pull.Next()
	if err != nil {
		t.Fatal(err)
	}
	if err := msg.DoubleAck(ctx); err != nil {
		t.Fatal(err)
	}
	changes := map[string]func(){
		"Filters": func() { s.FilterSubjects = []string{"work.a", "work.b"} },
		"Times":   func() { s.AckWait, s.InactiveThreshold = duration(7*time.Second), duration(time.Hour) },
		"Limits":  func() { s.MaxDeliver, s.MaxAckPending, s.HeadersOnly = 5, 12, true },
		"Backoff": func() {
			s.Backoff = []external.Duration{external.Duration(time.Second), external.Duration(time.Minute)}
		},
		"ThinkLess": func() { s.Description = "workers of a" },
	}
	for name, change := range changes {
		change()
		if o, err := c.Observe(ctx, s); err != nil || o.UpToDate {
			t.Errorf("%s: Observe of a changed spec: %+v, %v", name, o, err)
		}
		if err := c.Update(ctx, s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if o, err := c.Observe(ctx, s); err != nil || !o.UpToDate {
			t.Errorf("%s: Observe after Update: %+v, %v, config %+v", name, o, err, config(t, b))
		}
	}
	if got := config(t, b); got.MaxDeliver != 5 || got.MaxAckPending != 12 || len(got.FilterSubjects) != 2 || got.AckWait != time.Second {
		t.Errorf("the consumer is %+v", got)
	}
	if info, err := pull.Info(ctx); err != nil || info.AckFloor.Stream != 1 {
		t.Errorf("after the changes it is at %+v, %v, want 1", info, err)
	}
	for range 2 {
		if err := c.Delete(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	if o, err := c.Observe(ctx, s); err != nil || o.Exists {
		t.Errorf("Observe after Delete: %+v, %v", o, err)
	}
}

func TestWhatCannotBeChangedIsRefused(t *testing.T) {
	start := time.Now().Add(-time.Hour)
	cases := map[string]func(*consumer.Spec){
		"deliverPolicy": func(s *consumer.Spec) { s.DeliverPolicy = "New" },
		"ackPolicy":     func(s *consumer.Spec) { s.AckPolicy = "None" },
		"replayPolicy":  func(s *consumer.Spec) { s.ReplayPolicy = "Original" },
	}
	ctx := t.Context()
	_, b := connect(t)
	c := consumer.New(b, nil)
	base := consumer.Spec{Stream: "WORK", Name: "w"}
	if err := c.Create(ctx, base); err != nil {
		t.Fatal(err)
	}
	before := config(t, b)
	for field, change := range cases {
		s := base
		change(&s)
		for verb, err := range map[string]error{"Observe": observe(t, c, s), "Update": c.Update(ctx, s)} {
			if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), field) {
				t.Errorf("%s with another %s: %v, want Conflict", verb, field, err)
			}
		}
	}
	if after := config(t, b); after.DeliverPolicy != before.DeliverPolicy || after.AckPolicy != before.AckPolicy {
		t.Errorf("a refused change has changed the consumer: %+v", after)
	}
	for name, s := range map[string]consumer.Spec{
		"Policy":   {Stream: "WORK", Name: "x", AckPolicy: "Maybe"},
		"Start":    {Stream: "WORK", Name: "x", StartSequence: 3},
		"NoStart":  {Stream: "WORK", Name: "x", DeliverPolicy: "ByStartTime"},
		"BothWays": {Stream: "WORK", Name: "x", DeliverPolicy: "ByStartSequence", StartSequence: 1, StartTime: &start},
		"Backoff":  {Stream: "WORK", Name: "x", MaxDeliver: 1, Backoff: []external.Duration{external.Duration(time.Second)}},
	} {
		if err := c.Create(ctx, s); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, want Invalid", name, err)
		}
	}
	by := consumer.Spec{Stream: "WORK", Name: "t", DeliverPolicy: "ByStartTime", StartTime: &start}
	if err := c.Create(ctx, by); err != nil {
		t.Fatal(err)
	}
	if o, err := c.Observe(ctx, by); err != nil || !o.UpToDate {
		t.Errorf("by start time: %+v, %v", o, err)
	}
	later := start.Add(time.Minute)
	by.StartTime = &later
	if err := observe(t, c, by); !fault.Is(err, fault.Conflict) {
		t.Errorf("another start time: %v, want Conflict", err)
	}
}

func TestNoStreamAndNoServer(t *testing.T) {
	server, b := connect(t)
	c := consumer.New(b, nil)
	s := consumer.Spec{Stream: "NOTHING", Name: "w"}
	if err := observe(t, c, s); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "NOTHING") {
		t.Errorf("Observe: %v, want NotFound", err)
	}
	if err := c.Delete(t.Context(), s); err != nil {
		t.Errorf("Delete: %v", err)
	}
	server.Stop()
	if err := observe(t, c, s); !fault.Is(err, fault.Transient) {
		t.Errorf("Observe without a server: %v of kind %q, want Transient", err, fault.KindOf(err))
	}
}

func observe(t *testing.T, c *consumer.Client, s consumer.Spec) error {
	t.Helper()
	_, err := c.Observe(t.Context(), s)
	return err
}

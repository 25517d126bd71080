package bus_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/waittest"
)

func TestAsk(t *testing.T) {
	b := connect(t, natstest.Start(t))
	for subject, answer := range map[string]func(string, int) (int, bool){
		"test.double": func(_ string, n int) (int, bool) { return 2 * n, true },
		"test.silent": func(string, int) (int, bool) { return 0, false },
	} {
		stop, err := bus.Serve(b, subject, answer)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
	}
	type result struct {
		n    int
		kind fault.Kind
	}
	cases := map[string]struct {
		subject, question string
		want              result
	}{
		"Answered": {"test.double", "21", result{n: 42}},
		"NoAnswer": {"test.silent", "21", result{kind: fault.Transient}},
		"Nobody":   {"test.nobody", "21", result{kind: fault.NotFound}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			within := time.Minute
			if c.want.kind == fault.Transient {
				within = time.Millisecond
			}
			results := make(chan result, 2)
			err := bus.Ask(b, c.subject, []byte(c.question), within, func(n int, err error) { results <- result{n, fault.KindOf(err)} })
			if err != nil {
				t.Fatal(err)
			}
			if got := waittest.Receive(t, "the result is told", results); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
	b.Close()
	if err := bus.Ask(b, "test.double", []byte("21"), time.Minute, func(int, error) { t.Error("told although it failed") }); err == nil {
		t.Error("a question on a closed connection was sent")
	}
}

func TestOfferOutcome(t *testing.T) {
	b := connect(t, natstest.Start(t))
	ctx := testContext(t)
	o := bus.Outcome{Request: "req_1", Session: "s", Tenant: "t", State: bus.Completed}
	offer := func(o bus.Outcome, after uint64) error {
		t.Helper()
		stored := make(chan error, 1)
		if err := b.OfferOutcome(o, after, time.Minute, func(err error) { stored <- err }); err != nil {
			return err
		}
		return waittest.Receive(t, "the result is told", stored)
	}
	if err := offer(o, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Outcome(ctx, bus.Ref{ID: o.Request, Session: o.Session, Tenant: o.Tenant}); err != nil || got.State != bus.Completed {
		t.Errorf("outcome = %+v, %v", got, err)
	}
	o.State = bus.Failed
	if err := offer(o, 0); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second outcome: %v, want Conflict", err)
	}
	if err := b.DeleteStream(ctx, names.OutcomeStream); err != nil {
		t.Fatal(err)
	}
	if err := offer(o, 0); err == nil {
		t.Error("an outcome was stored without a stream")
	}
}

func TestEncodeAssignment(t *testing.T) {
	r := bus.Request{ID: "req_1", Session: "s", Tenant: "t", Model: "ns/m", Created: time.Now().UTC().Round(0), Body: []byte(`{"messages":[]}`)}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := bus.Assignment{Request: r, Attempt: 2, Epoch: 1795259777000000, Seq: 17, Instance: "ABC"}
	data, err := bus.EncodeAssignment(raw, want)
	if err != nil {
		t.Fatal(err)
	}
	var got bus.Assignment
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := bus.EncodeAssignment(raw, bus.Assignment{Instance: `"`}); !fault.Is(err, fault.Invalid) {
		t.Errorf("an instance that JSON would have to escape: %v, want Invalid", err)
	}
}

package queue

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"
)

// queueOf returns a queue on a new server, and a function that publishes requests
// of a session.
func queueOf(t *testing.T) (*Queue, func(session string, ids ...string)) {
	t.Helper()
	srv := natstest.Start(t)
	b, err := bus.Connect(t.Context(), bus.Config{URL: srv.URL(), User: natstest.User, Password: natstest.Password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	// A stream with sequences from 1: Ensure keeps those of an existing stream.
	_, err = b.JetStream().CreateStream(t.Context(), jetstream.StreamConfig{Name: names.RequestStream, Subjects: []string{names.RequestSubjects}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := New(b)
	return q, func(session string, ids ...string) {
		t.Helper()
		for _, id := range ids {
			if _, err := q.Publish(t.Context(), Request{ID: id, Session: session, Tenant: "t"}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestNewest(t *testing.T) {
	q, publish := queueOf(t)
	want := func(seq uint64) {
		t.Helper()
		if got, err := q.newest(t.Context(), names.RequestSubject("s", "*")); err != nil || got != seq {
			t.Errorf("newest = %d, %v, want %d", got, err, seq)
		}
	}
	want(0)
	publish("other", "req_1")
	want(0)
	publish("s", "req_2", "req_3")
	publish("other", "req_4")
	want(3)
	if err := q.Delete(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	want(2)
}

// read runs a reader of session s, which gets the newest sequence from newest.
func read(t *testing.T, q *Queue, newest func() uint64) <-chan string {
	t.Helper()
	return readBy(t, streamReader{
		bus: q.bus, patience: 400 * time.Millisecond,
		newest: func(context.Context) (uint64, error) { return newest(), nil },
	})
}

// readBy runs a reader of session s, and returns what it reads and when it has replayed
// all.
func readBy(t *testing.T, r streamReader) <-chan string {
	t.Helper()
	events := make(chan string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool)
	t.Cleanup(func() { cancel(); waittest.Receive(t, "the reader ends", done) })
	r.filter = names.RequestSubject("s", "*")
	r.handle = func(_ jetstream.Msg, seq uint64) { events <- fmt.Sprint(seq) }
	r.again = func() { events <- "again" }
	r.current = func(uint64) { events <- "replayed" }
	go func() { defer close(done); r.run(ctx) }()
	return events
}

func expect(t *testing.T, events <-chan string, words ...string) {
	t.Helper()
	for _, want := range words {
		if got := waittest.Receive(t, want, events); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// The leader of the stream has two messages that the server of the reader gets
// late. The reader asks again, and restarts meanwhile.
func TestReaderWaitsForAServerThatLagsBehind(t *testing.T) {
	q, publish := queueOf(t)
	publish("s", "req_1", "req_2", "req_3")
	asked := make(chan string, 1000)
	events := read(t, q, func() uint64 { asked <- "asked"; return 5 })
	expect(t, events, "1", "2", "3")
	for range maxQuiet + 2 {
		expect(t, asked, "asked")
	}
	publish("s", "req_4", "req_5")
	expect(t, events, "4", "5", "replayed")
	publish("s", "req_6")
	expect(t, events, "6")
}

// The last message is deleted after the leader has reported it, and no other
// arrives.
func TestReaderDoesNotWaitForADeletedMessage(t *testing.T) {
	q, publish := queueOf(t)
	publish("s", "req_1", "req_2")
	asked := 0
	events := read(t, q, func() uint64 {
		if asked++; asked < 3 {
			return 3
		}
		return 2
	})
	expect(t, events, "1", "2", "replayed")
}

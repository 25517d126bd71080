package queue_test

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/waittest"
)

func TestBacklog(t *testing.T) {
	srv := natstest.Start(t)
	b := connect(t, srv)
	ctx := testContext(t)
	publish := publisher(t, b)
	first := publish("req_1", "s", "t")
	publish("req_2", "other", "t")
	if err := b.Conn().PublishMsg(&nats.Msg{Subject: names.RequestSubject("s", "t"), Data: []byte("no request")}); err != nil {
		t.Fatal(err)
	}
	publish("req_3", "s", "t")

	events := make(chan string, 100)
	go b.Backlog(ctx, "s", queue.BacklogReader{
		Entry:   func(e queue.Entry) { events <- fmt.Sprintf("%d:%s:%t", e.Seq-first+1, e.Request.ID, e.Lasting) },
		Again:   func() { events <- "again" },
		Current: func(connection uint64) { events <- fmt.Sprint("current ", connection) },
	})
	want := func(c chan string, words ...string) {
		t.Helper()
		for _, w := range words {
			if got := waittest.Receive(t, w, c); got != w {
				t.Errorf("got %q, want %q", got, w)
			}
		}
	}
	want(events, "1:req_1:true", "3::true", "4:req_3:true", "current 0")
	publish("req_4", "s", "t")
	want(events, "5:req_4:true")
	copied := srv.Copy()
	want(events, "again", "1:req_1:true", "3::true", "4:req_3:true", "5:req_4:true", "current 1")
	publish("req_5", "s", "t")
	want(events, "6:req_5:true")

	// The server comes back without req_5, and gives its sequence to another request.
	srv.Rollback(copied)
	want(events, "again", "1:req_1:true", "3::true", "4:req_3:true", "5:req_4:true", "current 2")
	publish("req_6", "s", "t")
	want(events, "6:req_6:true")

	none := make(chan string, 1)
	go b.Backlog(ctx, "empty", queue.BacklogReader{
		Entry: func(e queue.Entry) { none <- e.Request.ID }, Again: func() {}, Current: func(uint64) { none <- "current" },
	})
	want(none, "current")
}

package queue_test

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/queue"
	"github.com/gorizond/koldun/internal/waittest"
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
	go b.Backlog(ctx, "s", func(e queue.Entry) { events <- fmt.Sprintf("%d:%s:%t", e.Seq-first+1, e.Request.ID, e.Lasting) }, func() { events <- "replayed" })
	want := func(c chan string, words ...string) {
		t.Helper()
		for _, w := range words {
			if got := waittest.Receive(t, w, c); got != w {
				t.Errorf("got %q, want %q", got, w)
			}
		}
	}
	want(events, "1:req_1:true", "3::true", "4:req_3:true", "replayed")
	publish("req_4", "s", "t")
	want(events, "5:req_4:true")
	srv.Restart()
	publish("req_5", "s", "t")
	want(events, "6:req_5:true")

	none := make(chan string, 1)
	go b.Backlog(ctx, "empty", func(e queue.Entry) { none <- e.Request.ID }, func() { none <- "replayed" })
	want(none, "replayed")
}

package queue

import (
	"testing"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"
)

func TestUnwantedSubscriptionsEnd(t *testing.T) {
	srv := natstest.Start(t)
	b, err := bus.Connect(t.Context(), bus.Config{URL: srv.URL(), User: natstest.User, Password: natstest.Password})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	q := New(b)
	follow := func(id string) *Frames {
		f, err := q.SubscribeFrames(Ref{ID: id, Session: "s", Tenant: "t"})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for range 3 { // the first and later timers
		alone := follow("req_1")
		alone.Close()
		waittest.Until(t, "the end of a subscription that nobody needs", func() bool { return !alone.sub.IsValid() })
	}
	before := follow("req_2")
	before.Close()
	before.Close()
	after := follow("req_3")
	if before.sub.IsValid() {
		t.Error("a new subscription did not end the old one")
	}
	if !after.sub.IsValid() {
		t.Error("the new subscription has ended, too")
	}
}

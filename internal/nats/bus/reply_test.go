package bus_test

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/test/waittest"
)

// TestAnswersGoToInboxes has a sender ask for answers on subjects that mean something.
func TestAnswersGoToInboxes(t *testing.T) {
	b := natstest.Start(t).Connect(t)
	stop, err := bus.Serve(b, "koldun.v1.test", func(string, int) (int, bool) { return 0, true })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	heard, err := b.Conn().SubscribeSync(">")
	if err != nil {
		t.Fatal(err)
	}
	const subject, inbox = "koldun.v1.test", "_INBOX.last"
	for _, reply := range []string{"$JS.API.STREAM.PURGE.KV_koldun_tokens", names.KVSubject(names.LeasesBucket, "s"), names.EndSubject("s"), inbox} {
		if err := b.Conn().PublishMsg(&nats.Msg{Subject: subject, Reply: reply, Data: []byte("1")}); err != nil {
			t.Fatal(err)
		}
	}
	for {
		m, err := heard.NextMsgWithContext(waittest.Context(t))
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case m.Subject == subject:
		case strings.HasPrefix(m.Subject, "$JS.EVENT.ADVISORY."): // JetStream reports new buckets at any time
		case m.Subject == inbox: // answers come in the order of the questions
			return
		default:
			t.Errorf("there is an answer on %s", m.Subject)
		}
	}
}

package queue

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/gorizond/koldun/internal/bus"
	"github.com/gorizond/koldun/internal/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
)

// TestReaderOnASlowLink reads requests that take longer on their way than a reader waits at
// first, as do the answers to its questions.
func TestReaderOnASlowLink(t *testing.T) {
	const patience, most = 100 * time.Millisecond, 100 * time.Millisecond << maxDoublings
	q, publish := queueOf(t)
	publish("s", "req_1")
	large := strings.Repeat("x", 512<<10)
	for _, id := range []string{"req_2", "req_3"} {
		if _, err := q.Publish(t.Context(), Request{ID: id, Session: "s", Tenant: "t", Body: []byte(`"` + large + `"`)}); err != nil {
			t.Fatal(err)
		}
	}
	// An answer takes three quarters of the longest patience.
	slow := slowLink(t, strings.TrimPrefix(q.bus.Conn().ConnectedUrl(), "nats://"), int(float64(len(large))*1.34/(most.Seconds()*3/4)))
	b, err := bus.Connect(t.Context(), bus.Config{URL: "nats://" + slow, User: natstest.User, Password: natstest.Password})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	slowly := New(b)
	events := readBy(t, streamReader{
		queue: slowly, patience: patience,
		newest: func(ctx context.Context) (uint64, error) { return slowly.newest(ctx, names.RequestSubject("s", "*")) },
	})
	expect(t, events, "1", "2", "3", "replayed")
}

// slowLink forwards connections to an address until the test ends, and the answers at a rate
// in bytes per second.
func slowLink(t *testing.T, to string, bytesPerSecond int) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go forward(t.Context(), in, to, rate.NewLimiter(rate.Limit(bytesPerSecond), 16<<10))
		}
	}()
	return l.Addr().String()
}

// forward forwards one connection until either side closes it.
func forward(ctx context.Context, in net.Conn, to string, limit *rate.Limiter) {
	defer func() { _ = in.Close() }()
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer func() { _ = out.Close() }()
	go func() {
		_, _ = io.Copy(out, in)
		_ = out.Close()
	}()
	buf := make([]byte, 16<<10)
	for {
		n, err := out.Read(buf)
		if err != nil || limit.WaitN(ctx, n) != nil {
			return
		}
		if _, err := in.Write(buf[:n]); err != nil {
			return
		}
	}
}

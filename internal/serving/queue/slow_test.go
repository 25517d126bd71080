package queue

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"golang.org/x/time/rate"

	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

// TestReaderOnASlowLink reads a request that takes longer on its way than a reader waits at
// first: one that is there when the reader begins, whose sequence takes as long to ask for,
// and one that comes when it has read all.
func TestReaderOnASlowLink(t *testing.T) {
	t.Parallel()
	const patience = 2 * minHeartbeat // less would not shorten the wait for a heartbeat
	const most = patience << maxDoublings
	for name, before := range map[string]bool{"Before": true, "After": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q, publish := queueOf(t)
			body := []byte(`"` + strings.Repeat("x", 512<<10) + `"`)
			large := func(id string) {
				t.Helper()
				if _, err := q.Publish(t.Context(), Request{ID: id, Session: "s", Tenant: "t", Body: body}); err != nil {
					t.Fatal(err)
				}
			}
			address, limit := slowLink(t, strings.TrimPrefix(q.bus.Conn().ConnectedUrl(), "nats://"))
			b, err := bus.Connect(t.Context(), bus.Config{URL: "nats://" + address, User: natstest.User, Password: natstest.Password})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(b.Close)
			// A message takes half of the longest patience, and an answer, which is in base64,
			// two thirds.
			slow := rate.Limit(float64(len(body)) / (most.Seconds() / 2))
			slowly := New(b)
			reader := streamReader{
				bus: b, patience: patience,
				newest: func(ctx context.Context) (uint64, error) { return slowly.newest(ctx, names.RequestSubject("s", "*")) },
			}
			publish("s", "req_1")
			if before {
				large("req_2")
				limit.SetLimit(slow)
				expect(t, readBy(t, reader), "1", "2", "replayed")
				return
			}
			events := readBy(t, reader)
			expect(t, events, "1", "replayed")
			limit.SetLimit(slow)
			large("req_2")
			expect(t, events, "2")
		})
	}
}

// slowLink forwards connections to an address until the test ends, and the answers at a rate
// in bytes per second that the test can lower.
func slowLink(t *testing.T, to string) (address string, limit *rate.Limiter) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	limit = rate.NewLimiter(rate.Inf, 16<<10)
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go forward(t.Context(), in, to, limit)
		}
	}()
	return l.Addr().String(), limit
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

package serving_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/waittest"
)

// A floor is a chain of the same processes as a request passes through, each of
// which passes on bytes and does nothing else: what the operating system, Go and
// NATS take in any case. Into it leads one connection for each stream, out of it
// another.
type floor struct {
	in, out   string // addresses
	processes []*process
}

// newFloor makes a chain of the processes in, relays and out, with NATS between
// each two.
func newFloor(b *testing.B, s *stack, relays int) *floor {
	b.Helper()
	f := &floor{in: address(b), out: address(b)}
	start := func(name string, args ...string) {
		f.processes = append(f.processes, s.process("floor-"+name, nil, append([]string{os.Args[0], "role-floor", name, s.natsURL}, args...)...))
	}
	start("out", f.out, fmt.Sprintf("floor.%d", relays))
	for i := range relays {
		start("relay", fmt.Sprintf("floor.%d", i), fmt.Sprintf("floor.%d", i+1))
	}
	start("in", f.in, "floor.0")
	for _, addr := range []string{f.in, f.out} {
		waittest.Until(b, "the floor", func() bool {
			c, err := new(net.Dialer).DialContext(b.Context(), "tcp", addr)
			if err == nil {
				_ = c.Close()
			}
			return err == nil
		})
	}
	f.processes = append(f.processes, s.nats)
	return f
}

// floorOf returns what measures how long a message takes through a floor for a
// stack of processes, nil for one in a single process.
func (s *stack) floorOf(b *testing.B) func() time.Duration {
	b.Helper()
	if s.processes == nil {
		return nil
	}
	chain := newFloor(b, s, 2)
	in, out := chain.lane(b, "first")
	return func() time.Duration { return chain.once(b, in, out) }
}

// lane is a stream through a floor: what is written to in comes out of out.
func (f *floor) lane(b *testing.B, name string) (in, out net.Conn) {
	b.Helper()
	dial := func(addr string) net.Conn {
		c, err := new(net.Dialer).DialContext(b.Context(), "tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = c.Close() })
		if _, err := fmt.Fprintf(c, "%8s", name); err != nil {
			b.Fatal(err)
		}
		return c
	}
	out = dial(f.out)
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil { // it listens
		b.Fatal(err)
	}
	return dial(f.in), out
}

// once is how long one message takes through it.
func (f *floor) once(b *testing.B, in, out net.Conn) time.Duration {
	b.Helper()
	begun := time.Now()
	message := make([]byte, 64)
	if _, err := in.Write(message); err != nil {
		b.Fatal(err)
	}
	if _, err := io.ReadFull(out, message); err != nil {
		b.Fatal(err)
	}
	return time.Since(begun)
}

// chunkCPU is the CPU time per message in microseconds when so many come on
// each of four lanes, so far apart.
func (f *floor) chunkCPU(b *testing.B, messages int, every time.Duration) float64 {
	b.Helper()
	const lanes = 4
	var wg sync.WaitGroup
	before := used(f.processes)
	for i := range lanes {
		in, out := f.lane(b, fmt.Sprint("c", i))
		wg.Go(func() {
			tick := time.NewTicker(every)
			defer tick.Stop()
			for range messages {
				<-tick.C
				f.once(b, in, out)
			}
		})
	}
	wg.Wait()
	return per(before, used(f.processes), lanes*messages)["all"]
}

func roleFloor(kind, url string, args []string) {
	if err := floorRole(kind, url, args[0], args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func floorRole(kind, url, from, to string) error {
	nc, err := nats.Connect(url, nats.UserInfo(user, password))
	if err != nil {
		return err
	}
	if kind == "relay" {
		if _, err := nc.Subscribe(from+".*", func(m *nats.Msg) { _ = nc.Publish(to+m.Subject[len(from):], m.Data) }); err != nil {
			return err
		}
		<-ended().Done()
		return nil
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", from)
	if err != nil {
		return err
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() { // as long as its connection
			defer func() { _ = c.Close() }()
			name := make([]byte, 8)
			if _, err := io.ReadFull(c, name); err != nil {
				return
			}
			subject := fmt.Sprintf("%s.%x", to, name)
			if kind == "in" {
				carryIn(nc, c, subject)
			} else {
				carryOut(nc, c, subject)
			}
		}()
	}
}

func carryIn(nc *nats.Conn, c net.Conn, subject string) {
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if err != nil || nc.Publish(subject, buf[:n]) != nil {
			return
		}
	}
}

func carryOut(nc *nats.Conn, c net.Conn, subject string) {
	sub, err := nc.Subscribe(subject, func(m *nats.Msg) { _, _ = c.Write(m.Data) })
	if err != nil {
		return
	}
	defer func() { _ = sub.Unsubscribe() }()
	if nc.Flush() != nil {
		return
	}
	_, _ = c.Write([]byte("x"))
	_, _ = io.Copy(io.Discard, c)
}

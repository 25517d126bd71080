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

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/waittest"
)

// A relayChain is a chain of as many processes as a request passes through, each
// of which only forwards bytes. It measures the minimal cost of the operating
// system, Go and NATS, which benchmarks report as "floor". Each stream uses one
// connection into the chain and one out of it.
type relayChain struct {
	in, out   string // addresses
	processes []*process
}

// newRelayChain starts the processes in, relays and out, which are connected by
// NATS.
func newRelayChain(b *testing.B, s *stack, relays int) *relayChain {
	b.Helper()
	f := &relayChain{in: address(b), out: address(b)}
	env := []string{names.EnvNATSCreds + "=" + s.logins.write(&processUser{User: s.broker.account.Everything(b)})}
	start := func(name string, args ...string) {
		f.processes = append(f.processes, s.processes.start("relay-"+name, env, append([]string{os.Args[0], "role-relay", name, s.broker.natsURL}, args...)...))
	}
	start("out", f.out, fmt.Sprintf("relay.%d", relays))
	for i := range relays {
		start("relay", fmt.Sprintf("relay.%d", i), fmt.Sprintf("relay.%d", i+1))
	}
	start("in", f.in, "relay.0")
	for _, addr := range []string{f.in, f.out} {
		waittest.Until(b, "the relays to listen", func() bool {
			c, err := new(net.Dialer).DialContext(b.Context(), "tcp", addr)
			if err == nil {
				_ = c.Close()
			}
			return err == nil
		})
	}
	f.processes = append(f.processes, s.broker.process)
	return f
}

// relayLatency returns a function that measures the latency of one message through
// a relay chain, or nil for a stack in a single process.
func (s *stack) relayLatency(b *testing.B) func() time.Duration {
	b.Helper()
	if s.processes.all == nil {
		return nil
	}
	chain := newRelayChain(b, s, 2)
	in, out := chain.stream(b, "first")
	return func() time.Duration { return chain.roundTrip(b, in, out) }
}

// stream opens a stream through the chain: data written to in arrives at out.
func (f *relayChain) stream(b *testing.B, name string) (in, out net.Conn) {
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
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil { // the relay has subscribed
		b.Fatal(err)
	}
	return dial(f.in), out
}

// roundTrip returns the latency of one message.
func (f *relayChain) roundTrip(b *testing.B, in, out net.Conn) time.Duration {
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

// chunkCPU returns the CPU time per message in microseconds, for this number of
// messages on each of four streams and this interval between them.
func (f *relayChain) chunkCPU(b *testing.B, messages int, every time.Duration) float64 {
	b.Helper()
	const streams = 4
	var wg sync.WaitGroup
	before := used(f.processes)
	for i := range streams {
		in, out := f.stream(b, fmt.Sprint("c", i))
		wg.Go(func() {
			tick := time.NewTicker(every)
			defer tick.Stop()
			for range messages {
				<-tick.C
				f.roundTrip(b, in, out)
			}
		})
	}
	wg.Wait()
	return per(before, used(f.processes), streams*messages)["all"]
}

func roleRelay(kind, url string, args []string) {
	if err := runRelay(kind, url, args[0], args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runRelay(kind, url, from, to string) error {
	nc, err := nats.Connect(url, nats.UserCredentials(os.Getenv(names.EnvNATSCreds)))
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
		go func() { // ends with its connection
			defer func() { _ = c.Close() }()
			name := make([]byte, 8)
			if _, err := io.ReadFull(c, name); err != nil {
				return
			}
			subject := fmt.Sprintf("%s.%x", to, name)
			if kind == "in" {
				forwardIn(nc, c, subject)
			} else {
				forwardOut(nc, c, subject)
			}
		}()
	}
}

func forwardIn(nc *nats.Conn, c net.Conn, subject string) {
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if err != nil || nc.Publish(subject, buf[:n]) != nil {
			return
		}
	}
}

func forwardOut(nc *nats.Conn, c net.Conn, subject string) {
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

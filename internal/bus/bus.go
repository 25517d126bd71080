// Package bus is how Koldun's processes speak to each other over NATS: the
// connection, the streams and buckets, the messages, and what is promised about
// their order and arrival.
package bus

import (
	"log/slog"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A Bus is a connection to NATS that mends itself. Its methods may be called
// from any goroutine.
type Bus struct {
	nc       *nats.Conn
	js       jetstream.JetStream
	log      *slog.Logger
	shown    string // URL without credentials
	patience *patience

	asks asks

	mu      sync.Mutex
	renewed chan struct{} // closed and replaced at each reconnect
	buckets map[string]jetstream.KeyValue
	streams map[string]jetstream.Stream

	unwanted unwanted
}

// Close flushes what was published, for at most a second, and ends the
// connection; subscriptions and watches end with it.
func (b *Bus) Close() {
	if b.nc.IsConnected() {
		_ = b.nc.FlushTimeout(closeFlush)
	}
	b.nc.Close()
}

// Connected reports whether the connection stands at this moment.
func (b *Bus) Connected() bool { return b.nc.IsConnected() }

// Closed reports whether Close was called: nothing will restore the connection.
func (b *Bus) Closed() bool { return b.nc.IsClosed() }

// Flush blocks until the server has seen all that was published before, or
// flushTimeout passed.
func (b *Bus) Flush() error { return b.nc.FlushTimeout(flushTimeout) }

// Conn is the connection below, for subjects that this package has no words
// for. It belongs to the Bus: never close or drain it.
func (b *Bus) Conn() *nats.Conn { return b.nc }

// JetStream is the JetStream context of the connection.
func (b *Bus) JetStream() jetstream.JetStream { return b.js }

// Reconnected returns a channel that is closed when the connection has been
// restored after a loss. What was sent to this process meanwhile is lost, so
// whoever waits for messages looks again. Ask for a new channel after each.
func (b *Bus) Reconnected() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.renewed
}

func (b *Bus) announceReconnect() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.renewed)
	b.renewed = make(chan struct{})
}

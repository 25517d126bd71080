// Package bus connects Koldun's processes to NATS: the connection and its
// credentials, streams, key-value buckets and watches, and messages with and
// without an answer. The protocol of requests is in package queue.
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

// Conn returns the connection below, for what this package does not offer. It
// belongs to the Bus: never close or drain it.
func (b *Bus) Conn() *nats.Conn { return b.nc }

// JetStream returns the JetStream context of the connection.
func (b *Bus) JetStream() jetstream.JetStream { return b.js }

// Logger returns the logger that the Bus was given.
func (b *Bus) Logger() *slog.Logger { return b.log }

// Reconnected returns a channel that is closed when the connection has been
// restored after a loss. Messages to this process were lost meanwhile, so a
// caller that waits for some must ask for them again. Each channel is closed
// once.
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

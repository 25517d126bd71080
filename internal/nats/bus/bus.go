// Package bus connects Koldun's processes to NATS: the connection and its
// credentials, streams, key-value buckets and watches, and messages with and
// without an answer. The protocol of requests is in package queue.
package bus

import (
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A Bus is a connection to NATS that reconnects automatically. Its methods may be
// called from any goroutine.
type Bus struct {
	nc       *nats.Conn
	js       jetstream.JetStream
	log      *slog.Logger
	shown    string // URL without credentials
	patience *patience
	counts   counts
	// stop ends what runs beside the connection, and waits for it.
	stop func()

	asks    asks
	permits permits

	// watching is held for reading while a watch begins, and for writing when the
	// connection is replaced: without a connection the client library does not know the
	// version of the server, and asks for the consumer on a subject of old servers, which
	// no role permits.
	watching sync.RWMutex

	mu       sync.Mutex
	renewed  chan struct{} // closed and replaced at each reconnect
	renewing time.Time     // when this client last replaced the connection itself
	returned time.Time     // when the connection was last restored after a loss
	buckets  map[string]jetstream.KeyValue
	streams  map[string]jetstream.Stream
}

// Close flushes published messages for at most a second, and closes the
// connection with its subscriptions and watches.
func (b *Bus) Close() {
	b.stop()
	if b.nc.IsConnected() {
		_ = b.nc.FlushTimeout(closeFlush)
	}
	b.nc.Close()
}

// Connected reports whether the connection is up.
func (b *Bus) Connected() bool { return b.nc.IsConnected() }

// Closed reports whether Close was called.
func (b *Bus) Closed() bool { return b.nc.IsClosed() }

// Flush blocks until the server has received all earlier messages, or until
// flushTimeout.
func (b *Bus) Flush() error { return b.nc.FlushTimeout(flushTimeout) }

// Conn returns the underlying connection. The Bus owns it: never close or drain
// it.
func (b *Bus) Conn() *nats.Conn { return b.nc }

// JetStream returns the JetStream context of the connection.
func (b *Bus) JetStream() jetstream.JetStream { return b.js }

// Logger returns the logger that the Bus was given.
func (b *Bus) Logger() *slog.Logger { return b.log }

// Reconnected returns a channel that is closed when a lost connection is
// restored. Messages to this process were lost in between, so callers must
// request what they wait for again. Each channel is closed once.
func (b *Bus) Reconnected() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.renewed
}

// Connection numbers the connections to servers, which restore a lost one and renew
// credentials. Whatever was seen on an earlier one may have changed, even backwards: a
// server can come back with older data.
func (b *Bus) Connection() uint64 { return b.nc.Stats().Reconnects }

// Returned returns when the connection was last restored after a loss, such as a
// restart of the server, or zero. The renewal of credentials is none.
func (b *Bus) Returned() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.returned
}

func (b *Bus) announceReconnect() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := time.Now(); now.Sub(b.renewing) > renewsWithin {
		b.returned = now
	}
	close(b.renewed)
	b.renewed = make(chan struct{})
}

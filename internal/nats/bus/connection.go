package bus

import (
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A connection is a connection to NATS that reconnects automatically.
type connection struct {
	nc       *nats.Conn
	js       jetstream.JetStream
	log      *slog.Logger
	shown    string // URL without credentials
	patience *patience
	counts   counts
	permits  permits
	// stop ends what runs beside the connection, and waits for it.
	stop func()

	// watching is held for reading while a watch begins, and for writing when the
	// connection is replaced: without a connection the client library does not know the
	// version of the server, and asks for the consumer on a subject of old servers, which
	// no role permits.
	watching sync.RWMutex

	mu       sync.Mutex
	renewed  chan struct{} // closed and replaced at each reconnect
	renewing time.Time     // when this client last replaced the connection itself
	returned time.Time     // when the connection was last restored after a loss
}

// Close flushes published messages for at most a second, and closes the
// connection with its subscriptions and watches.
func (c *connection) Close() {
	c.stop()
	if c.nc.IsConnected() {
		_ = c.nc.FlushTimeout(closeFlush)
	}
	c.nc.Close()
}

// Connected reports whether the connection is up.
func (c *connection) Connected() bool { return c.nc.IsConnected() }

// Closed reports whether Close was called.
func (c *connection) Closed() bool { return c.nc.IsClosed() }

// Flush blocks until the server has received all earlier messages, or until
// flushTimeout.
func (c *connection) Flush() error { return c.nc.FlushTimeout(flushTimeout) }

// Conn returns the underlying connection. The Bus owns it: never close or drain
// it.
func (c *connection) Conn() *nats.Conn { return c.nc }

// JetStream returns the JetStream context of the connection.
func (c *connection) JetStream() jetstream.JetStream { return c.js }

// Logger returns the logger that the Bus was given.
func (c *connection) Logger() *slog.Logger { return c.log }

// Reconnected returns a channel that is closed when a lost connection is
// restored. Messages to this process were lost in between, so callers must
// request what they wait for again. Each channel is closed once.
func (c *connection) Reconnected() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.renewed
}

// Connection numbers the connections to servers, which restore a lost one and renew
// credentials. Whatever was seen on an earlier one may have changed, even backwards: a
// server can come back with older data.
func (c *connection) Connection() uint64 { return c.nc.Stats().Reconnects }

// Returned returns when the connection was last restored after a loss, such as a
// restart of the server, or zero. The renewal of credentials is none.
func (c *connection) Returned() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.returned
}

func (c *connection) announceReconnect() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.renewing) > renewsWithin {
		c.returned = now
	}
	close(c.renewed)
	c.renewed = make(chan struct{})
}

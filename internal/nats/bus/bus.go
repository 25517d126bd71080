// Package bus connects Koldun's processes to NATS: the connection and its
// credentials, streams, key-value buckets and watches, and messages with and
// without an answer. The protocol of requests is in package queue.
package bus

import "github.com/nats-io/nats.go/jetstream"

// A Bus is a connection to NATS that reconnects automatically, and what a process does on
// it: it sends messages, reads and writes keys, and opens streams. Its methods may be
// called from any goroutine.
type Bus struct {
	*connection
	*messages
	*keys
	*streams
}

// newBus returns the bus on a connection.
func newBus(c *connection) *Bus {
	m := &messages{conn: c}
	return &Bus{
		connection: c, messages: m,
		keys:    &keys{conn: c, messages: m, buckets: map[string]jetstream.KeyValue{}},
		streams: &streams{conn: c, open: map[string]jetstream.Stream{}},
	}
}

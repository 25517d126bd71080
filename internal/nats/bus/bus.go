// Package bus connects Koldun's processes to NATS: the connection and its
// credentials, streams, key-value buckets and watches, and messages with and
// without an answer. The protocol of requests is in package queue.
package bus

import "github.com/nats-io/nats.go/jetstream"

// A Bus is a connection to NATS that reconnects automatically, and what a process does on
// it: it sends messages, reads and writes keys, and opens streams. Its methods may be
// called from any goroutine.
type Bus struct {
	connection
	*messages
	*keys
	*streams
}

// ready returns the bus with all that is done on its connection.
func (b *Bus) ready() *Bus {
	c := &b.connection
	b.messages = &messages{conn: c}
	b.keys = &keys{conn: c, messages: b.messages, buckets: map[string]jetstream.KeyValue{}}
	b.streams = &streams{conn: c, open: map[string]jetstream.Stream{}}
	return b
}

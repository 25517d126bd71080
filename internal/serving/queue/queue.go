// Package queue is the protocol of requests between gateways, dispatchers and
// runners: the messages, the streams that hold requests, outcomes and dead
// letters, and the frames that carry an answer, with the guarantees about their
// order and delivery.
package queue

import (
	"time"

	"github.com/gorizond/koldun/internal/nats/bus"
)

const (
	// apiTimeout limits each request to JetStream, because its answer is lost
	// with the connection.
	apiTimeout = 5 * time.Second
	// consumerTimeout limits the creation of a consumer.
	consumerTimeout = 5 * time.Second
)

// A Queue is the queue of requests on a Bus. Its methods may be called from any
// goroutine. It needs no Close.
type Queue struct {
	bus *bus.Bus
	requests
	outcomes
	deadLetters
	frames
}

// New returns the queue on a bus. A process needs one.
func New(b *bus.Bus) *Queue {
	s := streams{b}
	ended := outcomes{s}
	return &Queue{bus: b, requests: requests{s}, outcomes: ended, deadLetters: deadLetters{s}, frames: frames{bus: b, outcomes: ended}}
}

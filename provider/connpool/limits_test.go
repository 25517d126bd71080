package connpool

import (
	"testing"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

func TestUsualLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		operator v1alpha1.NATSOperator
		want     natsauth.Limits
	}{
		"Bare":         {v1alpha1.NATSOperator{}, natsauth.Limits{Connections: 500, Consumers: 1000, Streams: 20, DiskBytes: 1 << 30}},
		"ThreeServers": {v1alpha1.NATSOperator{Servers: 3}, natsauth.Limits{Connections: 500, Consumers: 1000, Streams: 20, DiskBytes: 3 << 30}},
		"Given": {
			v1alpha1.NATSOperator{Servers: 3, Limits: v1alpha1.NATSUsualLimits{Connections: 1, Consumers: 2, Streams: 3, DiskBytes: 4}},
			natsauth.Limits{Connections: 1, Consumers: 2, Streams: 3, DiskBytes: 4},
		},
		"None": {v1alpha1.NATSOperator{Limits: v1alpha1.NATSUsualLimits{Connections: -1, Consumers: -1, Streams: -1, DiskBytes: -1}}, natsauth.Limits{}},
	} {
		if got := usualLimits(&c.operator); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// TestQueueFitsUsualLimits: what Koldun makes in each account fits, with stored responses.
func TestQueueFitsUsualLimits(t *testing.T) {
	t.Parallel()
	reserved, streams := int64(names.ResponsesMaxBytes), 1
	for _, s := range bus.Streams() {
		reserved += s.MaxBytes
		streams++
	}
	for _, s := range bus.Buckets() {
		reserved += s.MaxBytes
		streams++
	}
	if reserved > usualDiskBytes || streams > usualStreams {
		t.Errorf("the queue has %d streams and reserves %d bytes, and an account may have %d and %d", streams, reserved, usualStreams, usualDiskBytes)
	}
}

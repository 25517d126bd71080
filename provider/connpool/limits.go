package connpool

import (
	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/nats/natsauth"
)

// The limits of accounts without NATSAccount, unless the ProviderConfig names others.
const (
	usualConnections = 500
	usualConsumers   = 1000
	usualStreams     = 20
	// usualDiskBytes hold on each server what Koldun's streams and its bucket of responses
	// reserve, in as many replicas as there are servers, with room for a third more. A
	// single server reserves them for each account, so they are not more than that.
	usualDiskBytes = 1 << 30
)

// usualLimits returns the limits of accounts without NATSAccount.
func usualLimits(o *v1alpha1.NATSOperator) natsauth.Limits {
	l := o.Limits
	return natsauth.Limits{
		Connections: limit(l.Connections, usualConnections),
		Consumers:   limit(l.Consumers, usualConsumers),
		Streams:     limit(l.Streams, usualStreams),
		DiskBytes:   limit(l.DiskBytes, usualDiskBytes*int64(max(o.Servers, 1))),
	}
}

// limit returns a limit as natsauth has it, where 0 is none.
func limit(given, usual int64) int64 {
	if given == 0 {
		return usual
	}
	return max(given, 0)
}

package external

import (
	"context"
	"time"
)

// Every calls changed once in a period until ctx ends, and returns nil. It is the watch
// of resources whose credentials are renewed.
func Every(ctx context.Context, period time.Duration, changed func()) error {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			changed()
		}
	}
}

// After calls changed once when a time has passed, and returns nil when ctx ends.
func After(ctx context.Context, d time.Duration, changed func()) error {
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(d):
		changed()
	}
	<-ctx.Done()
	return nil
}

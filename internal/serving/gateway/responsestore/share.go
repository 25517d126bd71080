package responsestore

import (
	"context"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/internal/nats/bus"
)

const (
	// parts is how many tenants can fill the bucket only together.
	parts = 4
	// overhead counts for each response: its key, and what the server keeps of it.
	overhead = 512
	// steps is into how many times of expiry the bytes of a tenant are parted.
	steps = 32
	// tries is how often a share is written that other requests of the tenant change.
	tries = 16
)

// A share says how many bytes one tenant has in the bucket. All gateways write it, each
// change as a replacement of the one that it has read.
type share struct {
	Used []expiring `json:"used"`
}

// expiring are bytes until a time, in Unix seconds.
type expiring struct {
	Until int64 `json:"until"`
	Bytes int64 `json:"bytes"`
}

// shareKey is the key of a tenant's share. No response has such an id.
func shareKey(tenant string) string { return names.ResponseKey(tenant, "share") }

// expiry returns when what is stored now counts no more: at the next step after the TTL.
func expiry(now time.Time, ttl time.Duration) int64 {
	step := max(int64(ttl/time.Second)/steps, 1)
	return (now.Add(ttl).Unix()/step + 1) * step
}

// with returns the share with n more bytes until a time, without what has expired. n may
// be negative.
func (s share) with(n, until int64, now time.Time) share {
	used := slices.DeleteFunc(slices.Clone(s.Used), func(e expiring) bool { return e.Until <= now.Unix() })
	i := slices.IndexFunc(used, func(e expiring) bool { return e.Until == until })
	switch {
	case i >= 0:
		used[i].Bytes = max(used[i].Bytes+n, 0)
	case n > 0:
		used = append(used, expiring{Until: until, Bytes: n})
	}
	return share{Used: used}
}

func (s share) bytes() int64 {
	var n int64
	for _, e := range s.Used {
		n += e.Bytes
	}
	return n
}

// change adds n bytes to the share of a tenant, and reports whether it did: there may be
// no room.
func (s *Store) change(ctx context.Context, tenant string, n, until int64) (bool, error) {
	key := shareKey(tenant)
	var err error
	for range tries {
		have, revision, readErr := bus.Get[share](ctx, s.bus, names.ResponsesBucket, key)
		if readErr != nil && !fault.Is(readErr, fault.NotFound) {
			return false, readErr
		}
		now := time.Now()
		want := have.with(n, until, now)
		if n > 0 && want.bytes() > s.most/parts {
			return false, nil
		}
		// All that it counts expires before it does.
		if readErr != nil {
			_, err = s.bus.Create(ctx, names.ResponsesBucket, key, want, want.life(now))
		} else {
			_, err = s.bus.Update(ctx, names.ResponsesBucket, key, want, revision, want.life(now))
		}
		if !fault.Is(err, fault.Conflict) {
			return err == nil, err
		}
	}
	return false, err
}

// life is how long a share counts anything.
func (s share) life(now time.Time) time.Duration {
	last := now.Unix() + 1
	for _, e := range s.Used {
		last = max(last, e.Until)
	}
	return time.Duration(last-now.Unix()) * time.Second
}

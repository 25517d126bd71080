package fetch

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

func TestBuffersKeepTheBudget(t *testing.T) {
	b := newBuffers(100, 3)
	var used, most atomic.Int64
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			n := int64(1 + i%120) // some are larger than usual
			buf, err := b.get(t.Context(), n)
			if err != nil || int64(len(buf)) != n {
				t.Errorf("get(%d) = %d bytes, %v", n, len(buf), err)
				return
			}
			now := used.Add(max(n, 100))
			for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
			}
			used.Add(-max(n, 100))
			b.put(buf)
		})
	}
	wg.Wait()
	if most.Load() > 300 {
		t.Errorf("%d bytes in use at once, want at most 300", most.Load())
	}
	buf, err := b.get(t.Context(), 1000) // more than everything
	if err != nil || len(buf) != 1000 {
		t.Fatalf("get = %d bytes, %v", len(buf), err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("reason")
	cancel(reason)
	if _, err := b.get(ctx, 1); !errors.Is(err, reason) {
		t.Errorf("get while all is in use = %v", err)
	}
	b.put(buf)
}

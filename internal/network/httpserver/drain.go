package httpserver

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// quiet is how long no request has come when a drain ends.
const quiet = time.Second

// A drain lets clients leave a server before it shuts down. A load balancer sends
// requests for a while after the end has begun, and clients use connections that they
// keep: net/http closes those at once and drops what has just come, and a client cannot
// know whether it may send such a request again. A draining server answers, and asks
// with each answer for another connection.
type drain struct {
	quiet time.Duration

	mu      sync.Mutex
	ending  bool
	running int       // requests
	last    time.Time // when a request began or ended
}

// handler serves h, and closes connections once the drain has begun.
func (d *drain) handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ending := d.count(1); ending {
			w.Header().Set("Connection", "close")
		}
		defer d.count(-1)
		h.ServeHTTP(w, r)
	})
}

func (d *drain) count(n int) (ending bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running += n
	d.last = time.Now()
	return d.ending
}

// run drains until no request runs or has come lately, at most for a time
// and until ctx ends.
func (d *drain) run(ctx context.Context, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	d.mu.Lock()
	d.ending = true
	d.mu.Unlock()
	for left := d.left(); left > 0; left = d.left() {
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return
		}
	}
}

// left returns the time until the drain may end.
func (d *drain) left() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running > 0 {
		return d.quiet
	}
	return d.quiet - time.Since(d.last)
}

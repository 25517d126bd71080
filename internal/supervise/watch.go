package supervise

import (
	"context"
	"net"
	"net/http"
	"syscall"
	"time"
)

const (
	// lookEvery is how often the sockets are looked at for peers that left.
	lookEvery = time.Second
	// leftFor is how long a node has to notice by itself that another has
	// left. Only one that hangs, or waits for yet another that was lost
	// without a word, takes longer; or a root that nobody asks anything.
	leftFor = 5 * time.Second
)

// watch returns when the process has ended, which it helps along if that is
// needed to make the topology whole again, or reports false when ctx ends.
func (s *supervisor) watch(ctx context.Context, c *child) bool {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var left time.Time // since when a peer is known to have left
	for {
		select {
		case <-c.done:
			return true
		case <-ctx.Done():
			return false
		case why := <-s.restart:
			s.log.Warn("ending the engine: it was asked for", "pid", c.pid, "reason", why)
			c.signal(syscall.SIGKILL)
		case now := <-tick.C:
			switch {
			case s.view().left == 0:
				left = time.Time{}
			case left.IsZero():
				left = now
			case now.Sub(left) >= leftFor:
				s.log.Warn("ending the engine: a node that it was connected to has left", "pid", c.pid)
				c.signal(syscall.SIGKILL)
				left = now
			}
		}
	}
}

// handleRestart is POST /restart: the engine is ended, and started again as
// ever. Only who shares this machine's loopback may ask, which in a pod is the
// sidecar: it alone knows that an engine has fallen silent. 202 when it is
// being ended, 409 when there is nothing to end.
func (s *supervisor) handleRestart(w http.ResponseWriter, r *http.Request) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		answer(w, http.StatusForbidden, "only from this machine")
		return
	}
	wait := time.NewTimer(lookEvery)
	defer wait.Stop()
	select {
	case s.restart <- "the sidecar has waited too long for a token":
		answer(w, http.StatusAccepted, "restarting")
	case <-wait.C:
		answer(w, http.StatusConflict, "it does not run")
	case <-r.Context().Done():
	}
}

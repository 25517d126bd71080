package supervise

import (
	"context"
	"net"
	"net/http"
	"syscall"
	"time"
)

const (
	// lookEvery is the interval of checks for lost peers.
	lookEvery = time.Second
	// leftFor is the time for a node to notice that a peer has disconnected. A
	// node takes longer only if it hangs, waits for another lost node, or is a
	// root without requests.
	leftFor = 2 * time.Second
)

// watch returns when the process has ended, or reports false when ctx ends. It
// stops the process if the topology needs a restart: broken says why.
func (s *supervisor) watch(ctx context.Context, c *child, broken <-chan string) bool {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var left time.Time // when a peer was found to have disconnected
	for {
		select {
		case <-c.done:
			return true
		case <-ctx.Done():
			return false
		case why := <-s.restart:
			s.log.Warn("stopping the engine by request", "pid", c.pid, "reason", why)
			c.signal(syscall.SIGKILL)
		case why := <-broken:
			s.log.Warn("stopping the engine: its ring is broken", "pid", c.pid, "reason", why)
			c.signal(syscall.SIGKILL)
		case now := <-tick.C:
			switch {
			case s.view().left == 0:
				left = time.Time{}
			case left.IsZero():
				left = now
			case now.Sub(left) >= leftFor:
				s.log.Warn("stopping the engine: a connected node has disconnected", "pid", c.pid)
				c.signal(syscall.SIGKILL)
				left = now
			}
		}
	}
}

// handleRestart handles POST /restart, which restarts the engine. It accepts only
// clients on loopback with the key, such as the sidecar in the same pod, which detects
// hanging engines. It answers 202 if the engine is being stopped, 409 if none runs.
func (s *supervisor) handleRestart(w http.ResponseWriter, r *http.Request) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil || !net.ParseIP(host).IsLoopback() {
		answer(w, http.StatusForbidden, "only from this machine")
		return
	}
	if !s.knowsKey(r) {
		answer(w, http.StatusForbidden, "only with the key in the file of --restart-key-file")
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

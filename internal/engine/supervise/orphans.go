package supervise

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// reapOrphans reaps whenever a child ends, until ctx ends.
func (s *supervisor) reapOrphans(ctx context.Context) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
			s.births.Lock()
			s.mu.Lock()
			pid := s.pid
			s.mu.Unlock()
			reap(pid)
			s.births.Unlock()
		}
	}
}

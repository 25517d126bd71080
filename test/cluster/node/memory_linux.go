package node

import (
	"fmt"
	"os"
	"time"
)

// memoryEvery is the interval between two looks at the memory of a container.
const memoryEvery = 20 * time.Millisecond

// guard ends a container when its process takes more memory than the limit. It returns
// when the process has ended.
func (l *podWorker) guard(name string, pid int, limit int64) {
	tick := time.NewTicker(memoryEvery)
	defer tick.Stop()
	for range tick.C {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		var size, resident int64
		if err == nil {
			_, err = fmt.Sscan(string(raw), &size, &resident)
		}
		if err != nil {
			return
		}
		l.mu.Lock()
		c := l.containers[name]
		current := c.pid == pid
		if current && resident*int64(os.Getpagesize()) > limit {
			c.exhausted = true
			kill(pid)
		}
		l.mu.Unlock()
		if !current {
			return
		}
	}
}

package node

import (
	"context"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/gorizond/koldun/internal/local/pod"
)

// A podWorker runs the containers of one pod from their start to their end. It is
// safe for concurrent use.
type podWorker struct {
	uid      types.UID
	plan     *pod.Plan
	began    time.Time
	cancel   context.CancelFunc // asks the containers to end
	onChange func()             // called after each change
	limits   map[string]int64   // of memory, by container
	guards   sync.WaitGroup
	done     chan struct{} // closed at the end of the pod

	mu         sync.Mutex
	containers map[string]*container // including init containers
	ready      bool
	why        string // why it is not ready
	killed     bool   // nothing may start any more
	ending     bool   // end was called
	evicted    string // why the node has ended it
	over       bool   // all containers have ended
}

// A container is the state of a container.
type container struct {
	pid int // 0 while it does not run
	// exhausted says that the process was killed because of its memory.
	exhausted bool
	started   time.Time
	restarts  int32
	again     bool // it restarts after a pause
	last      *ended
}

// ended describes the end of a container.
type ended struct {
	pod.End
	started, finished time.Time
	exhausted         bool // it took more memory than its limit
}

func newPodWorker(uid types.UID, plan *pod.Plan, limits map[string]int64, onChange func()) *podWorker {
	l := &podWorker{uid: uid, plan: plan, began: time.Now(), onChange: onChange, limits: limits, done: make(chan struct{}), containers: map[string]*container{}, why: "it has not started yet"}
	for _, list := range [][]pod.Process{plan.Inits, plan.Containers} {
		for _, c := range list {
			l.containers[c.Name] = &container{}
		}
	}
	return l
}

// run runs the pod to its end.
func (l *podWorker) run(ctx context.Context, m *pod.Machine, forever bool) {
	var result pod.Result
	if forever {
		m.Keep(ctx, l.plan, l)
	} else {
		result = m.Complete(ctx, l.plan, l)
	}
	close(l.done)
	l.guards.Wait()
	l.change(func() { l.over, l.ready, l.why = true, false, result.Message })
}

// Started records the start of a process.
func (l *podWorker) Started(name string, pid int) {
	l.change(func() {
		c := l.containers[name]
		if c.last != nil {
			c.restarts++
		}
		c.pid, c.started, c.again, c.exhausted = pid, time.Now(), false, false
		if limit := l.limits[name]; limit > 0 {
			l.guards.Go(func() { l.guard(name, pid, limit) })
		}
		if l.killed {
			kill(pid)
		}
	})
}

// Ended records the end of a process.
func (l *podWorker) Ended(name string, end pod.End, again time.Duration) {
	l.change(func() {
		c := l.containers[name]
		if c == nil {
			l.why = end.How // reason of the whole pod
			return
		}
		c.last = &ended{End: end, started: c.started, finished: time.Now(), exhausted: c.exhausted}
		c.pid, c.again = 0, again > 0
	})
}

// Ready records whether the pod is ready.
func (l *podWorker) Ready(ready bool, why string) {
	l.change(func() { l.ready, l.why = ready, why })
}

func (l *podWorker) change(f func()) {
	l.mu.Lock()
	f()
	l.mu.Unlock()
	l.onChange()
}

// end asks the containers to end. It does not wait.
func (l *podWorker) end() {
	l.mu.Lock()
	first := !l.ending
	l.ending = true
	l.mu.Unlock()
	if first {
		l.cancel()
		l.onChange()
	}
}

// killAll kills the containers.
func (l *podWorker) killAll() {
	l.end()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killed = true
	for _, c := range l.containers {
		kill(c.pid)
	}
}

// kill kills a container, which restarts by its pod's restartPolicy. It returns
// false if the container does not run.
func (l *podWorker) kill(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.containers[name]
	return c != nil && kill(c.pid)
}

// kill kills a process and its children.
func kill(pid int) bool {
	return pid > 0 && syscall.Kill(-pid, syscall.SIGKILL) == nil
}

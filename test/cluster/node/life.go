package node

import (
	"context"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/gorizond/koldun/internal/local/pod"
)

// A life is what a pod's containers do, from their start to their end. It is
// safe for concurrent use.
type life struct {
	uid    types.UID
	plan   *pod.Plan
	began  time.Time
	cancel context.CancelFunc // asks the containers to end
	news   func()             // is called when something has changed

	mu         sync.Mutex
	containers map[string]*container // init containers too
	ready      bool
	why        string // it is not ready
	killed     bool   // nothing may run any more
	ending     bool   // it was asked to end
	over       bool   // nothing runs any more
}

// A container is what is known of one.
type container struct {
	pid      int // 0 while it does not run
	started  time.Time
	restarts int32
	again    bool // it is started again after a while
	last     *ended
}

// ended is how a container ended.
type ended struct {
	pod.End
	started, finished time.Time
}

func newLife(uid types.UID, plan *pod.Plan, news func()) *life {
	l := &life{uid: uid, plan: plan, began: time.Now(), news: news, containers: map[string]*container{}, why: "it has not started yet"}
	for _, list := range [][]pod.Process{plan.Inits, plan.Containers} {
		for _, c := range list {
			l.containers[c.Name] = &container{}
		}
	}
	return l
}

// run the pod to its end.
func (l *life) run(ctx context.Context, m *pod.Machine, forever bool) {
	var result pod.Result
	if forever {
		m.Keep(ctx, l.plan, l)
	} else {
		result = m.Complete(ctx, l.plan, l)
	}
	l.change(func() { l.over, l.ready, l.why = true, false, result.Message })
}

// Started notes a process.
func (l *life) Started(name string, pid int) {
	l.change(func() {
		c := l.containers[name]
		if c.last != nil {
			c.restarts++
		}
		c.pid, c.started, c.again = pid, time.Now(), false
		if l.killed {
			kill(pid)
		}
	})
}

// Ended notes the end of a process.
func (l *life) Ended(name string, end pod.End, again time.Duration) {
	l.change(func() {
		c := l.containers[name]
		if c == nil {
			l.why = end.How // of the pod as a whole
			return
		}
		c.last = &ended{End: end, started: c.started, finished: time.Now()}
		c.pid, c.again = 0, again > 0
	})
}

// Ready notes whether the pod is ready.
func (l *life) Ready(ready bool, why string) {
	l.change(func() { l.ready, l.why = ready, why })
}

func (l *life) change(f func()) {
	l.mu.Lock()
	f()
	l.mu.Unlock()
	l.news()
}

// end asks the containers to end. It does not wait.
func (l *life) end() {
	l.mu.Lock()
	first := !l.ending
	l.ending = true
	l.mu.Unlock()
	if first {
		l.cancel()
		l.news()
	}
}

// cut ends the containers at once.
func (l *life) cut() {
	l.end()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killed = true
	for _, c := range l.containers {
		kill(c.pid)
	}
}

// kill a container, which is started again as its pod says. It is false if it
// does not run.
func (l *life) kill(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.containers[name]
	return c != nil && kill(c.pid)
}

// kill a process and what it has started.
func kill(pid int) bool {
	return pid > 0 && syscall.Kill(-pid, syscall.SIGKILL) == nil
}

package local

import (
	"context"
	"time"

	"github.com/gorizond/koldun/internal/local/pod"
)

// template is the pod template of a workload or Job.
type template struct {
	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec pod.Spec `json:"spec"`
}

// A podRun is a running pod.
type podRun struct {
	plan   *pod.Plan
	cancel context.CancelFunc
	hash   string // of its template

	ready    bool
	why      string // why it is not ready
	stopping bool
}

// serves reports whether the pod accepts requests.
func (p *podRun) serves() bool { return p.ready && !p.stopping }

// reason returns why the pod does not serve.
func (p *podRun) reason() string {
	if p.stopping {
		return "it is being stopped"
	}
	return p.why
}

func (p *podRun) stop() {
	p.stopping = true
	p.cancel()
}

// A podWatcher reports the events of a pod.
type podWatcher struct {
	l     *Local
	owner Key
	pod   string
	ready func(ready bool, why string) // called by the goroutine of Run
}

func (w podWatcher) Started(container string, pid int) {
	w.l.post(func() {
		w.l.table.emit(Event{Type: ProcessStarted, Object: w.owner, Pod: w.pod, Container: container, PID: pid})
	})
}

func (w podWatcher) Ended(container string, end pod.End, again time.Duration) {
	w.l.post(func() {
		w.l.table.emit(Event{Type: ProcessEnded, Object: w.owner, Pod: w.pod, Container: container, Message: end.How, RestartIn: again})
	})
}

func (w podWatcher) Ready(ready bool, why string) {
	w.l.post(func() { w.ready(ready, why) })
}

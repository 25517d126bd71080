package local

import (
	"context"
	"slices"
	"time"

	"github.com/gorizond/koldun/internal/local/pod"
	"github.com/gorizond/koldun/internal/local/process"
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

// plan resolves the Secrets and ConfigMaps of a pod and takes ports for it. A
// NotFound error names what does not exist yet.
func (l *Local) plan(owner Key, name string, spec pod.Spec) (*pod.Plan, error) {
	ports, err := l.take(owner, name, slices.Concat(spec.InitContainers, spec.Containers))
	if err != nil {
		return nil, err
	}
	plan, err := pod.Resolve(spec, pod.Place{
		Namespace: owner.Namespace,
		Name:      name,
		Dir:       l.cfg.Data.Path("run", owner.Namespace, owner.Kind, name),
		ClaimsDir: l.cfg.Data.Path("volumes", owner.Namespace),
		Env:       slices.Concat(process.Kept(), l.cfg.Env),
		Lookup: func(kind, name string) (map[string][]byte, bool) {
			return l.secrets.get(kind, owner.Namespace, name)
		},
		Address: l.hosts.address,
		Login:   l.cfg.Login,
	}, ports)
	if err != nil {
		l.give(owner, &pod.Plan{Ports: ports})
		return nil, err
	}
	return plan, nil
}

// take takes ports for a pod. Those of a StatefulSet's pod stay its own.
func (l *Local) take(owner Key, name string, containers []pod.Container) (map[string]int, error) {
	if owner.Kind == kindStatefulSet {
		return l.hosts.take(owner.Namespace, name, containers)
	}
	return l.ports.For(containers)
}

// give gives the ports of an ended pod back.
func (l *Local) give(owner Key, plan *pod.Plan) {
	if owner.Kind != kindStatefulSet {
		l.ports.Give(plan.Ports)
	}
}

// host says which containers run here.
func (l *Local) host() pod.Host {
	return pod.Host{Image: l.cfg.OwnImage, Program: l.cfg.Program, Servers: l.cfg.Servers}
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
		w.l.emit(Event{Type: ProcessStarted, Object: w.owner, Pod: w.pod, Container: container, PID: pid})
	})
}

func (w podWatcher) Ended(container string, end pod.End, again time.Duration) {
	w.l.post(func() {
		w.l.emit(Event{Type: ProcessEnded, Object: w.owner, Pod: w.pod, Container: container, Message: end.How, RestartIn: again})
	})
}

func (w podWatcher) Ready(ready bool, why string) {
	w.l.post(func() { w.ready(ready, why) })
}

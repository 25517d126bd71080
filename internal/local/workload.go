package local

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/pod"
	"github.com/gorizond/koldun/internal/names"
)

// A workload keeps the pods of a Deployment or StatefulSet running. When the
// template changes, old pods of a Deployment stop when new ones serve; those of
// a StatefulSet stop first, because new ones use their names and volumes.
type workload struct {
	l     *Local
	e     *entry
	spec  workloadSpec
	hash  string // of the template
	first string // hash of the first template
	pods  map[string]*podRun

	waiting string // why no pod can start now
	stopped bool
	done    []func()
}

type workloadSpec struct {
	Replicas             *int     `json:"replicas"`
	Template             template `json:"template"`
	VolumeClaimTemplates []struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	} `json:"volumeClaimTemplates"`
}

func (w *workload) apply() {
	w.spec = workloadSpec{}
	w.e.blocked, w.waiting = "", ""
	err := fault.As(fault.Invalid, w.e.obj.Decode(&w.spec, "spec"))
	if err == nil {
		err = w.l.pods.host().Runnable(w.spec.Template.Spec)
	}
	if err == nil {
		err = w.fits()
	}
	if err != nil {
		w.refuse(err)
	}
	spec, _ := at(w.e.obj, "spec", "template", "spec")
	raw, _ := json.Marshal(spec) // it was JSON before
	w.hash = names.Hash(10, string(raw))
	if w.first == "" {
		w.first = w.hash
	}
	w.sync()
}

// refuse gives up until the template changes.
func (w *workload) refuse(err error) {
	w.e.blocked = err.Error()
	w.l.table.emit(Event{Type: NotRunHere, Object: w.e.key, Message: err.Error()})
}

// retry retries pods that wait for a Secret.
func (w *workload) retry() {
	if w.waiting != "" {
		w.sync()
	}
}

// want returns the names of the pods that should run.
func (w *workload) want() map[string]bool {
	want := map[string]bool{}
	if w.stopped || w.l.table.ending || w.e.blocked != "" {
		return want
	}
	name := w.e.key.Name + "-"
	if w.rolls() && w.hash != w.first {
		name += w.hash + "-" // distinct from pods of the previous template
	}
	for i := range w.replicas() {
		want[name+strconv.Itoa(i)] = true
	}
	return want
}

// rolls reports whether new pods run beside old ones.
func (w *workload) rolls() bool { return w.e.key.Kind == "Deployment" }

// serving counts the serving pods of the current template.
func (w *workload) serving() (n int) {
	for _, p := range w.pods {
		if p.hash == w.hash && p.serves() {
			n++
		}
	}
	return n
}

func (w *workload) replicas() int {
	if w.spec.Replicas == nil {
		return 1
	}
	return *w.spec.Replicas
}

// sync stops and starts pods. It runs again when a pod has ended.
func (w *workload) sync() {
	want := w.want()
	replaced := !w.rolls() || w.serving() >= len(want)
	for name, p := range w.pods {
		outdated := p.hash != w.hash
		if outdated && replaced || !outdated && !want[name] {
			p.stop()
		}
	}
	w.waiting = ""
	for _, name := range sortedKeys(want) {
		if w.pods[name] == nil && w.e.blocked == "" {
			w.start(name)
		}
	}
	w.report()
	if w.stopped && len(w.pods) == 0 {
		w.l.pods.hosts.forget(w.e.key)
		for _, done := range w.done {
			done()
		}
		w.done = nil
	}
}

func (w *workload) start(name string) {
	spec := w.spec.Template.Spec
	spec.Volumes = append([]pod.Volume(nil), spec.Volumes...)
	for _, claim := range w.spec.VolumeClaimTemplates {
		spec.Volumes = append(spec.Volumes, pod.Volume{
			Name:                  claim.Metadata.Name,
			PersistentVolumeClaim: &pod.ClaimVolume{ClaimName: claim.Metadata.Name + "-" + name},
		})
	}
	plan, err := w.l.pods.plan(w.e.key, name, spec)
	if fault.Is(err, fault.NotFound) {
		w.waiting = err.Error()
		w.l.table.reportProblemOnce(w.e, err)
		return
	}
	w.l.table.reportProblemOnce(w.e, nil)
	if err != nil {
		w.refuse(err)
		return
	}
	ctx, cancel := context.WithCancel(w.l.ctx)
	p := &podRun{plan: plan, cancel: cancel, hash: w.hash, why: "it has not started yet"}
	w.pods[name] = p
	watch := podWatcher{l: w.l, owner: w.e.key, pod: name, ready: func(ready bool, why string) {
		p.ready, p.why = ready, why
		w.sync()
	}}
	w.l.runners.Go(func() {
		defer cancel()
		w.l.pods.machine.Keep(ctx, plan, watch)
		w.l.post(func() {
			w.l.pods.give(w.e.key, plan)
			delete(w.pods, name)
			w.sync()
		})
	})
}

// report writes the status.
func (w *workload) report() {
	ready, updated, why := 0, 0, w.waiting
	for _, name := range sortedKeys(w.pods) {
		p := w.pods[name]
		if p.hash == w.hash {
			updated++
		}
		switch {
		case p.serves():
			ready++
		case why == "":
			why = fmt.Sprintf("pod %q: %s", name, p.reason())
		}
	}
	if w.e.blocked != "" {
		why = w.e.blocked
	}
	available := Condition{Type: "Available", Status: True, Reason: "MinimumReplicasAvailable"}
	all := ready >= w.replicas() && w.e.blocked == ""
	if !all {
		available = Condition{Type: "Available", Status: False, Reason: "MinimumReplicasUnavailable", Message: why}
	}
	status, _ := fields(w.e.obj["status"])
	generation, _ := at(w.e.obj, "metadata", "generation")
	w.l.table.setStatus(w.e, map[string]any{
		"observedGeneration": generation,
		"replicas":           len(w.pods),
		"updatedReplicas":    updated,
		"readyReplicas":      ready,
		"availableReplicas":  ready,
		"conditions":         withTransitionTimes([]Condition{available}, status["conditions"]),
	})
	w.l.table.setReady(w.e, all, fmt.Sprintf("%d/%d", ready, w.replicas())+suffix(why))
	w.l.table.refreshServices(w.e.key.Namespace)
}

func suffix(why string) string {
	if why == "" {
		return ""
	}
	return ", " + why
}

func (w *workload) stop(_ stopReason, done func()) {
	w.stopped = true
	w.done = append(w.done, done)
	w.sync()
}

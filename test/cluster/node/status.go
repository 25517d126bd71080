package node

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gorizond/koldun/internal/local/pod"
)

// address of every pod.
const address = "127.0.0.1"

func (l *podWorker) isOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// status returns the current status of p, based on the last reported one.
func (l *podWorker) status(p *corev1.Pod) corev1.PodStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	began := metav1.NewTime(l.began.Truncate(time.Second))
	s := corev1.PodStatus{
		Phase: l.phase(), QOSClass: p.Status.QOSClass, StartTime: &began,
		PodIP: address, PodIPs: []corev1.PodIP{{IP: address}}, HostIP: address, HostIPs: []corev1.HostIP{{IP: address}},
	}
	s.InitContainerStatuses = l.statuses(p.Spec.InitContainers, false)
	s.ContainerStatuses = l.statuses(p.Spec.Containers, l.ready)
	if !l.ready {
		s.Message = l.why
	}
	s.Conditions = conditions(p.Status.Conditions, map[corev1.PodConditionType]bool{
		corev1.PodScheduled:    true,
		corev1.PodInitialized:  l.initialised(),
		corev1.ContainersReady: l.ready,
		corev1.PodReady:        l.ready,
	})
	if l.evicted != "" {
		return evictedStatus(s, l.evicted)
	}
	return s
}

// phase returns the phase that a kubelet would report.
func (l *podWorker) phase() corev1.PodPhase {
	switch {
	case !l.over && l.initialised():
		return corev1.PodRunning
	case !l.over:
		return corev1.PodPending
	}
	for _, c := range l.plan.Containers {
		if last := l.containers[c.Name].last; last == nil || last.Status != 0 {
			return corev1.PodFailed
		}
	}
	return corev1.PodSucceeded
}

// initialised reports whether a container other than an init container has started.
func (l *podWorker) initialised() bool {
	for _, c := range l.plan.Containers {
		if s := l.containers[c.Name]; s.pid > 0 || s.last != nil {
			return true
		}
	}
	return false
}

func (l *podWorker) statuses(specs []corev1.Container, ready bool) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, spec := range specs {
		c := l.containers[spec.Name]
		running := c.pid > 0
		s := corev1.ContainerStatus{Name: spec.Name, Image: spec.Image, ImageID: spec.Image, RestartCount: c.restarts, Ready: ready && running, Started: &running}
		var end *corev1.ContainerStateTerminated
		if c.last != nil {
			end = terminated(c.last)
		}
		switch {
		case running:
			s.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(c.started.Truncate(time.Second))}
			s.LastTerminationState.Terminated = end
		case end != nil && c.again && !l.ending:
			s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: c.last.How}
			s.LastTerminationState.Terminated = end
		case end != nil:
			s.State.Terminated = end
			s.Ready = end.ExitCode == 0 && !ready // as a kubelet reports init containers
		default:
			s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "PodInitializing"}
		}
		out = append(out, s)
	}
	return out
}

func terminated(e *ended) *corev1.ContainerStateTerminated {
	out := &corev1.ContainerStateTerminated{
		ExitCode: int32(e.Status), Reason: "Completed", Message: e.How,
		StartedAt: metav1.NewTime(e.started.Truncate(time.Second)), FinishedAt: metav1.NewTime(e.finished.Truncate(time.Second)),
	}
	switch {
	case e.exhausted:
		out.Reason, out.Message = "OOMKilled", ""
	case e.Status < 0: // it could not run
		out.Reason, out.ExitCode = "StartError", 128
	case e.Status != 0:
		out.Reason = "Error"
	}
	return out
}

// waiting returns the status of a pod that cannot start.
func waiting(p *corev1.Pod, reason, message string) corev1.PodStatus {
	s := *p.Status.DeepCopy()
	s.Phase = corev1.PodPending
	s.ContainerStatuses = nil
	for _, c := range p.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		})
	}
	s.Conditions = conditions(p.Status.Conditions, map[corev1.PodConditionType]bool{corev1.PodScheduled: true, corev1.PodReady: false})
	return s
}

// conditions returns before updated with now. A transition time changes only with
// its status.
func conditions(before []corev1.PodCondition, now map[corev1.PodConditionType]bool) []corev1.PodCondition {
	var out []corev1.PodCondition
	had := map[corev1.PodConditionType]corev1.PodCondition{}
	for _, c := range before {
		had[c.Type] = c
		if _, ours := now[c.Type]; !ours {
			out = append(out, c)
		}
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		is, ours := now[kind]
		if !ours {
			continue
		}
		status := corev1.ConditionFalse
		if is {
			status = corev1.ConditionTrue
		}
		c := had[kind]
		if c.Status != status {
			c = corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.Now().Rfc3339Copy()}
		}
		out = append(out, c)
	}
	return out
}

var _ pod.Watcher = (*podWorker)(nil)

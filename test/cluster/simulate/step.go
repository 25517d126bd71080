package simulate

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A step is the next action of a kubelet for a pod.
type step string

const (
	nothing step = "nothing"
	wait    step = "wait"   // then request the behavior again
	bind    step = "bind"   // to the node
	report  step = "report" // the status that next has set
	remove  step = "remove" // the object
)

// exitTerminated is the status of a container that SIGTERM ended.
const exitTerminated = 143

// next returns the next step of a pod, and sets the status to report.
func next(pod *corev1.Pod, behavior Behavior) step {
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	switch {
	case pod.DeletionTimestamp != nil && (ended || pod.Spec.NodeName == ""):
		return remove
	case pod.DeletionTimestamp != nil:
		end(pod, exitTerminated)
		return report
	case ended:
		return nothing
	case pod.Spec.NodeName == "":
		return bind
	case behavior.waiting != "":
		return stall(pod, behavior.waiting, behavior.message)
	case pod.Status.Phase != corev1.PodRunning:
		run(pod)
		return report
	case behavior.ends && pod.Spec.RestartPolicy == corev1.RestartPolicyAlways:
		return stall(pod, "CrashLoopBackOff", "back-off restarting failed container")
	case behavior.ends:
		end(pod, behavior.exit)
		return report
	case behavior.unready:
		return setReady(pod, corev1.ConditionFalse)
	case pod.Spec.RestartPolicy != corev1.RestartPolicyAlways:
		end(pod, 0)
		return report
	default:
		return setReady(pod, corev1.ConditionTrue)
	}
}

// stall sets the status of containers that cannot start.
func stall(pod *corev1.Pod, reason, message string) step {
	if c := pod.Status.ContainerStatuses; len(c) > 0 && c[0].State.Waiting != nil && c[0].State.Waiting.Reason == reason {
		return wait
	}
	containers(pod, func(s *corev1.ContainerStatus) {
		s.Ready = false
		s.Started = new(false)
		s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
		if reason == "CrashLoopBackOff" {
			s.RestartCount++
		}
	})
	conditions(pod, corev1.ConditionFalse)
	return report
}

// run sets the status of containers that run and are not ready.
func run(pod *corev1.Pod) {
	now := metav1.Now()
	pod.Status.Phase = corev1.PodRunning
	pod.Status.StartTime = &now
	pod.Status.PodIP, pod.Status.HostIP = "192.0.2.1", "192.0.2.1"
	pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
	containers(pod, func(s *corev1.ContainerStatus) {
		s.Started = new(true)
		s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
	})
	conditions(pod, corev1.ConditionFalse)
}

// setReady sets whether the running containers are ready.
func setReady(pod *corev1.Pod, ready corev1.ConditionStatus) step {
	settled := true
	for _, s := range pod.Status.ContainerStatuses {
		settled = settled && s.State.Running != nil && s.Ready == (ready == corev1.ConditionTrue)
	}
	if settled {
		return wait
	}
	containers(pod, func(s *corev1.ContainerStatus) {
		if s.State.Running == nil {
			s.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
		}
		s.Started = new(true)
		s.Ready = ready == corev1.ConditionTrue
	})
	conditions(pod, ready)
	return report
}

// end sets the status of containers that ended with that exit status.
func end(pod *corev1.Pod, exit int32) {
	now := metav1.NewTime(time.Now())
	reason := "Error"
	pod.Status.Phase = corev1.PodFailed
	if exit == 0 {
		reason = "Completed"
		pod.Status.Phase = corev1.PodSucceeded
	}
	containers(pod, func(s *corev1.ContainerStatus) {
		s.Ready = false
		s.Started = new(false)
		s.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit, Reason: reason, StartedAt: now, FinishedAt: now}}
	})
	conditions(pod, corev1.ConditionFalse)
}

// containers sets the status of each container.
func containers(pod *corev1.Pod, set func(*corev1.ContainerStatus)) {
	before := map[string]corev1.ContainerStatus{}
	for _, s := range pod.Status.ContainerStatuses {
		before[s.Name] = s
	}
	pod.Status.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		s := before[c.Name]
		s.Name, s.Image, s.ImageID = c.Name, c.Image, "simulated"
		set(&s)
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, s)
	}
	pod.Status.InitContainerStatuses = nil
	for _, c := range pod.Spec.InitContainers {
		pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: "simulated", Ready: true,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}},
		})
	}
}

// conditions sets the conditions of a scheduled and initialised pod.
func conditions(pod *corev1.Pod, ready corev1.ConditionStatus) {
	want := map[corev1.PodConditionType]corev1.ConditionStatus{
		corev1.PodScheduled:    corev1.ConditionTrue,
		corev1.PodInitialized:  corev1.ConditionTrue,
		corev1.ContainersReady: ready,
		corev1.PodReady:        ready,
	}
	var kept []corev1.PodCondition
	for _, c := range pod.Status.Conditions {
		status, ours := want[c.Type]
		if ours && c.Status == status {
			delete(want, c.Type)
		}
		if !ours || c.Status == status {
			kept = append(kept, c)
		}
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		if status, ok := want[kind]; ok {
			kept = append(kept, corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.Now()})
		}
	}
	pod.Status.Conditions = kept
}

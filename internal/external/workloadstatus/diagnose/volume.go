package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// volumes returns why a node cannot mount the volumes of a pod, or cannot make its
// network, while its containers are not created.
func volumes(p *corev1.Pod, events []*corev1.Event) Diagnosis {
	if started := condition(p, corev1.PodReadyToStartContainers); !creating(p) || started != nil && started.Status == corev1.ConditionTrue {
		return Diagnosis{} // the volumes and the network are there
	}
	found := newestFirst(about(events, p.UID), "FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedCreatePodSandBox")
	// The timeout of all volumes together says less than that of one.
	slices.SortStableFunc(found, func(a, b *corev1.Event) int { return cmp.Compare(vague(a), vague(b)) })
	if len(found) == 0 {
		return Diagnosis{}
	}
	e := found[0]
	what, mend := "mount its volumes", "create what is missing, or correct the reference to it"
	if e.Reason == "FailedCreatePodSandBox" {
		if c, limited := smallest(p); limited && limitTooLow(e.Message) {
			return exceeded(p, c, true)
		}
		what, mend = "start it", "check the network plug-in and the runtime of the node"
	}
	return Diagnosis{Reason: VolumeUnavailable, Message: fmt.Sprintf("The node of pod %q cannot %s: %s; %s", p.Name, what, short(e.Message), mend)}
}

// smallest returns the container with the least memory limit; false if none has one.
func smallest(p *corev1.Pod) (c corev1.Container, limited bool) {
	for _, other := range p.Spec.Containers {
		limit, ok := other.Resources.Limits[corev1.ResourceMemory]
		if least := c.Resources.Limits[corev1.ResourceMemory]; ok && (!limited || limit.Cmp(least) < 0) {
			c, limited = other, true
		}
	}
	return c, limited
}

// creating reports whether no container has been created since the pod was bound.
func creating(p *corev1.Pod) bool {
	if p.Spec.NodeName == "" || p.Status.Phase == corev1.PodFailed {
		return false
	}
	for _, list := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for _, s := range list {
			if s.State.Waiting == nil || s.LastTerminationState.Terminated != nil || s.State.Waiting.Reason != "ContainerCreating" && s.State.Waiting.Reason != "PodInitializing" {
				return false
			}
		}
	}
	return true
}

func vague(e *corev1.Event) int {
	if strings.HasPrefix(stable(e.Message), "Unable to attach or mount volumes") {
		return 1
	}
	return 0
}

// about returns the events of one object.
func about(events []*corev1.Event, uid types.UID) []*corev1.Event {
	var out []*corev1.Event
	for _, e := range events {
		if e.InvolvedObject.UID == uid && uid != "" {
			out = append(out, e)
		}
	}
	return out
}

// newestFirst returns the warnings with one of the reasons, or all, newest first.
func newestFirst(events []*corev1.Event, reasons ...string) []*corev1.Event {
	var out []*corev1.Event
	for _, e := range events {
		if e.Type == corev1.EventTypeWarning && (len(reasons) == 0 || slices.Contains(reasons, e.Reason)) {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b *corev1.Event) int {
		return cmp.Or(timeOf(b).Compare(timeOf(a)), cmp.Compare(a.Message, b.Message))
	})
	return out
}

// timeOf returns when an event happened last. The two versions of the API keep it in
// different fields.
func timeOf(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	}
	return e.CreationTimestamp.Time
}

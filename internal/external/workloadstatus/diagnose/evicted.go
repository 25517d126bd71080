package diagnose

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// usage is the part of the kubelet's message that differs with each eviction.
var usage = regexp.MustCompile(`, available: [^,. ]+|\. Container \S+ was using .*`)

// replaced returns why a node has ended the pod before this one. A StatefulSet replaces a
// pod that has failed at once by one of the same name, so that only a warning is left.
func replaced(p *corev1.Pod, events []*corev1.Event) Diagnosis {
	for _, e := range newestFirst(events, reasonEvicted) {
		of := e.InvolvedObject
		if of.Kind == "Pod" && of.Name == p.Name && of.UID != p.UID && timeOf(e).After(p.CreationTimestamp.Add(-brief)) {
			return evicted(p, reasonEvicted, e.Message)
		}
	}
	return Diagnosis{}
}

const reasonEvicted = "Evicted"

// evicted returns why a node has ended or refused a pod.
func evicted(p *corev1.Pod, reason, message string) Diagnosis {
	why := short(usage.ReplaceAllString(message, ""))
	f := fieldsOf(p.Labels, first(p))
	resources := f.resources
	if resources == "" {
		resources = "its resources"
	}
	mend := "free its disk or memory, or run the pod on another node"
	switch lower := strings.ToLower(why); {
	case strings.Contains(lower, "exceeds the limit"), strings.Contains(lower, "exceeds the total limit"), strings.Contains(lower, "exceeded its local ephemeral storage limit"):
		mend = fmt.Sprintf("raise the limit of ephemeral-storage in %s, or the size of the volume", resources)
	case strings.Contains(lower, "ephemeral-storage"), strings.Contains(lower, "nodefs"), strings.Contains(lower, "imagefs"), strings.Contains(lower, "diskpressure"):
		mend = fmt.Sprintf("free the disk of the node, or request ephemeral-storage in %s, so that the pod gets a node with enough", resources)
	case strings.Contains(lower, "memory"):
		mend = fmt.Sprintf("request as much memory as the pod uses in %s, or free memory of the node", resources)
	}
	return Diagnosis{Reason: PodEvicted, Message: fmt.Sprintf("The node ended pod %q (%s): %s; %s", p.Name, reason, strings.TrimSuffix(why, "."), mend)}
}

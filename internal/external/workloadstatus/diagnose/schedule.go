package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

var (
	// The scheduler counts the nodes, which come and go.
	countAll  = regexp.MustCompile(`^\d+/\d+ nodes are available: `)
	countEach = regexp.MustCompile(`^\d+ (?:node\(s\) )?`)
	// scarce is a resource that no node has enough of.
	scarce = regexp.MustCompile(`Insufficient (\S+)`)
)

// unschedulable returns why no node runs a pod.
func unschedulable(p *corev1.Pod, events []*corev1.Event) Diagnosis {
	c := condition(p, corev1.PodScheduled)
	if c == nil || c.Status != corev1.ConditionFalse || c.Reason != corev1.PodReasonUnschedulable {
		return Diagnosis{}
	}
	why := because(c.Message)
	f := fieldsOf(p.Labels, first(p))
	resources := f.resources
	if resources == "" {
		resources = "its resources"
	}
	var mends []string
	switch {
	case strings.Contains(why, "unbound immediate PersistentVolumeClaims"), strings.Contains(strings.ToLower(why), "persistentvolumeclaim"):
		return claims(p, why, events)
	case strings.Contains(why, "no nodes available"):
		mends = append(mends, "add nodes")
	}
	for _, resource := range slices.Compact(slices.Sorted(slices.Values(resourcesOf(why)))) {
		mends = append(mends, fmt.Sprintf("lower the requests of %s in %s, or add a node with more", resource, resources))
	}
	if strings.Contains(why, "affinity/selector") || strings.Contains(why, "node selector") {
		mends = append(mends, fmt.Sprintf("correct %s or affinity, or label a node", f.placing("nodeSelector")))
	}
	if strings.Contains(why, "untolerated taint") || strings.Contains(why, "had taint") {
		mends = append(mends, "add "+f.placing("tolerations"))
	}
	if strings.Contains(why, "anti-affinity") || strings.Contains(why, "topology spread") {
		mends = append(mends, fmt.Sprintf("relax %s or topologySpreadConstraints, or add nodes", f.placing("affinity")))
	}
	if strings.Contains(why, "Too many pods") {
		mends = append(mends, "add nodes")
	}
	if len(mends) == 0 {
		mends = append(mends, "see kubectl describe pod "+p.Name)
	}
	return Diagnosis{Reason: Unschedulable, Message: fmt.Sprintf("No node can run pod %q: %s; %s", p.Name, why, strings.Join(mends, "; "))}
}

// because returns the sorted reasons of the scheduler, without numbers of nodes.
func because(message string) string {
	message, _, _ = strings.Cut(message, " preemption:")
	message = strings.TrimSuffix(strings.TrimSpace(countAll.ReplaceAllString(message, "")), ".")
	parts := strings.Split(message, ", ")
	for i := range parts {
		parts[i] = countEach.ReplaceAllString(parts[i], "")
	}
	slices.Sort(parts)
	return short(strings.Join(slices.Compact(parts), ", "))
}

func resourcesOf(why string) (out []string) {
	for _, m := range scarce.FindAllStringSubmatch(why, -1) {
		out = append(out, strings.TrimRight(m[1], ",.;"))
	}
	return out
}

func first(p *corev1.Pod) string {
	if len(p.Spec.Containers) == 0 {
		return ""
	}
	return p.Spec.Containers[0].Name
}

// claims returns why the PersistentVolumeClaims of a pod are not bound.
func claims(p *corev1.Pod, why string, events []*corev1.Event) Diagnosis {
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		for _, e := range newestFirst(events) {
			if e.InvolvedObject.Kind == "PersistentVolumeClaim" && e.InvolvedObject.Name == v.PersistentVolumeClaim.ClaimName {
				return Diagnosis{Reason: VolumeUnavailable, Message: fmt.Sprintf(
					"Pod %q waits for PersistentVolumeClaim %q: %s; name a StorageClass that exists, or create the volume", p.Name, e.InvolvedObject.Name, short(e.Message))}
			}
		}
	}
	return Diagnosis{Reason: VolumeUnavailable, Message: fmt.Sprintf(
		"No node can run pod %q: %s; create the PersistentVolumeClaim, or a volume for it: see kubectl get pvc", p.Name, why)}
}

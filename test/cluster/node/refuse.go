package node

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// memory is what the node has for the requests of one pod.
var memory = resource.MustParse("1Ti") //nolint:gochecknoglobals // a constant in all but syntax

// unfit returns why the node cannot run a pod, in the words of the scheduler; empty if
// it can.
func (n *Node) unfit(ctx context.Context, p *corev1.Pod) string {
	var why []string
	for key, value := range p.Spec.NodeSelector {
		if n.Labels[key] != value {
			why = append(why, "1 node(s) didn't match Pod's node affinity/selector")
			break
		}
	}
	scarce := map[string]bool{}
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		for name, wanted := range c.Resources.Requests {
			switch name {
			case corev1.ResourceCPU, corev1.ResourceEphemeralStorage:
			case corev1.ResourceMemory:
				scarce[string(name)] = scarce[string(name)] || wanted.Cmp(memory) > 0
			default:
				scarce[string(name)] = true
			}
		}
	}
	for name, is := range scarce {
		if is {
			why = append(why, "1 Insufficient "+name)
		}
	}
	for _, v := range p.Spec.Volumes {
		if claim := v.PersistentVolumeClaim; n.Strict && claim != nil {
			if _, err := n.clients.CoreV1().PersistentVolumeClaims(p.Namespace).Get(ctx, claim.ClaimName, metav1.GetOptions{}); err != nil {
				why = append(why, fmt.Sprintf("persistentvolumeclaim %q not found", claim.ClaimName))
			}
		}
	}
	if len(why) == 0 {
		return ""
	}
	slices.Sort(why)
	return "0/1 nodes are available: " + strings.Join(why, ", ") + ". preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
}

// unscheduled returns the status of a pod that no node runs.
func unscheduled(p *corev1.Pod, why string) corev1.PodStatus {
	s := *p.Status.DeepCopy()
	for _, c := range s.Conditions {
		if c.Type == corev1.PodScheduled && c.Message == why {
			return s
		}
	}
	s.Conditions = conditions(s.Conditions, map[corev1.PodConditionType]bool{corev1.PodScheduled: false})
	for i := range s.Conditions {
		if s.Conditions[i].Type == corev1.PodScheduled {
			s.Conditions[i].Reason, s.Conditions[i].Message = corev1.PodReasonUnschedulable, why
		}
	}
	return s
}

// missing returns an image of a pod that the node does not have; empty if it has all.
func (n *Node) missing(p *corev1.Pod) string {
	for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		if c.Image != n.Image && n.Programs[c.Image] == "" {
			return c.Image
		}
	}
	return ""
}

// refuse reports that an image cannot be pulled, as a kubelet does: first with what the
// registry says and an event, and then with a back-off.
func (n *Node) refuse(ctx context.Context, p *corev1.Pod, image string) error {
	answer := fmt.Sprintf("failed to resolve reference %q: %s: not found", image, image)
	if n.Registry != nil {
		answer = n.Registry(image)
	}
	if slices.ContainsFunc(p.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Waiting != nil }) {
		return n.write(ctx, p, waiting(p, "ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q", image)))
	}
	if err := n.warn(ctx, p, "Failed", fmt.Sprintf("Failed to pull image %q: %s", image, answer)); err != nil {
		return err
	}
	return n.write(ctx, p, waiting(p, "ErrImagePull", answer))
}

// warn writes an event about a pod, as a kubelet does.
func (n *Node) warn(ctx context.Context, p *corev1.Pod, reason, message string) error {
	now := metav1.Now()
	_, err := n.clients.CoreV1().Events(p.Namespace).Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: p.Name + "-", Namespace: p.Namespace},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: p.Namespace, Name: p.Name, UID: p.UID},
		Type:           corev1.EventTypeWarning, Reason: reason, Message: message,
		FirstTimestamp: now, LastTimestamp: now, Source: corev1.EventSource{Component: "kubelet", Host: Name},
	}, metav1.CreateOptions{})
	return err
}

// limits returns the memory limits of the containers that the node enforces.
func (n *Node) limits(p *corev1.Pod) map[string]int64 {
	out := map[string]int64{}
	for _, c := range p.Spec.Containers {
		if limit, ok := c.Resources.Limits[corev1.ResourceMemory]; ok && n.Strict {
			out[c.Name] = limit.Value()
		}
	}
	return out
}

package kubernetes

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Crash ends the processes of a pod by SIGKILL. The pod stays, and the kubelet starts its
// containers again. Deleting a pod without grace would not do for one with a volume: it makes
// the API server forget the pod, and another one gets the volume while the first still writes.
func (n *Node) Crash(ctx context.Context, namespace, name string) error {
	var pod corev1.Pod
	if err := n.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, &pod); err != nil {
		return fmt.Errorf("cannot crash pod %q: %w", name, err)
	}
	for _, c := range pod.Status.ContainerStatuses {
		id := strings.TrimPrefix(c.ContainerID, "containerd://")
		if err := n.ctr(ctx, "tasks", "kill", "--all", "--signal", "SIGKILL", id); err != nil {
			return fmt.Errorf("cannot crash container %q of pod %q: %w", c.Name, name, err)
		}
	}
	return nil
}

package node

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// diskEvery is the interval between two looks at the folders of a pod. A kubelet looks
// as rarely.
const diskEvery = 10 * time.Second

// quota ends the pod when its folders take more than its containers may together, as a
// kubelet does. It returns when the pod is over.
func (n *Node) quota(p *corev1.Pod, l *podWorker, limit resource.Quantity) {
	tick := time.NewTicker(diskEvery)
	defer tick.Stop()
	for {
		select {
		case <-n.ctx.Done():
			return
		case <-l.done:
			return
		case <-tick.C:
		}
		if folderSize(l.plan.Dir) <= limit.Value() {
			continue
		}
		why := fmt.Sprintf("Pod ephemeral local storage usage exceeds the total limit of containers %s. ", limit.String())
		if err := n.warn(n.ctx, p, "Evicted", why); err != nil {
			continue
		}
		l.change(func() { l.evicted = why })
		l.killAll()
		return
	}
}

// diskLimit returns what the containers of a pod may store together; ok is false if none
// has a limit, or the node enforces none.
func (n *Node) diskLimit(p *corev1.Pod) (limit resource.Quantity, ok bool) {
	for _, c := range p.Spec.Containers {
		limit.Add(c.Resources.Limits[corev1.ResourceEphemeralStorage])
	}
	return limit, n.Strict && !limit.IsZero()
}

// folderSize adds up the files of a folder. Those that are gone meanwhile count nothing.
func folderSize(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil //nolint:nilerr // it is gone
		}
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// evictedStatus is the status of a pod that the node has ended.
func evictedStatus(s corev1.PodStatus, why string) corev1.PodStatus {
	s.Phase, s.Reason, s.Message = corev1.PodFailed, "Evicted", why
	s.Conditions = slices.Clone(s.Conditions)
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Type == corev1.PodReady && c.Status != corev1.ConditionFalse {
			c.Status, c.LastTransitionTime = corev1.ConditionFalse, metav1.Now().Rfc3339Copy()
		}
	}
	return s
}

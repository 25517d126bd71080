package node_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gorizond/koldun/test/cluster"
)

// none waits until nothing is left in a namespace but what Kubernetes keeps in it, and
// no PersistentVolume of it.
func (l *leftovers) none(t *testing.T, namespace string) {
	t.Helper()
	began := time.Now()
	cluster.Eventually(t, "nothing to be left", func(ctx context.Context) error {
		found, err := l.Objects(ctx, namespace)
		if err != nil {
			return err
		}
		left, err := l.volumesOf(ctx, namespace)
		if err != nil {
			return err
		}
		for object := range found {
			if object != "ServiceAccount default" && object != "ConfigMap kube-root-ca.crt" && (namespace != "default" || !l.before[object]) {
				left = append(left, object)
			}
		}
		if len(left) > 0 {
			slices.Sort(left)
			return fmt.Errorf("there are %s", strings.Join(left, ", "))
		}
		return nil
	})
	tell("nothing is left in namespace %s after %s", namespace, time.Since(began).Round(time.Second))
}

// volumesOf returns the PersistentVolumes that are bound to a namespace, and those that
// Crossplane composed for it. A class may keep the others with their data.
func (l *leftovers) volumesOf(ctx context.Context, namespace string) (names []string, err error) {
	var volumes corev1.PersistentVolumeList
	if err := l.Client().List(ctx, &volumes); err != nil {
		return nil, err
	}
	for _, v := range volumes.Items {
		_, composed := v.Labels["crossplane.io/composite"]
		if ref := v.Spec.ClaimRef; ref != nil && ref.Namespace == namespace && (composed || v.Status.Phase == corev1.VolumeBound) {
			names = append(names, "PersistentVolume "+v.Name)
		}
	}
	return names, nil
}

package node_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gorizond/koldun/test/cluster"
)

// storeAway takes the object store away, as a crash does: its pod ends within a second, and
// no other starts until back is called, or the test ends.
func (fa *faults) storeAway(t *testing.T) (back func()) {
	t.Helper()
	const namespace, selector = "s3", "app.kubernetes.io/name=s3"
	fa.Kubectl(t, "scale", "statefulset/s3", "--namespace", namespace, "--replicas=0")
	back = func() {
		t.Helper()
		fa.Kubectl(t, "scale", "statefulset/s3", "--namespace", namespace, "--replicas=1")
		fa.pods.ready(t, namespace, selector, 1)
	}
	t.Cleanup(func() {
		_, _ = fa.RunKubectl(context.WithoutCancel(t.Context()), "scale", "statefulset/s3", "--namespace", namespace, "--replicas=1")
	})
	fa.Kubectl(t, "delete", "pods", "--namespace", namespace, "--selector", selector, "--grace-period=1")
	cluster.Eventually(t, "the object store to be away", func(ctx context.Context) error {
		pods, err := fa.RunKubectl(ctx, "get", "pods", "--namespace", namespace, "--selector", selector, "--output=name")
		if err == nil && pods != "" {
			err = fmt.Errorf("there is %s", pods)
		}
		return err
	})
	return back
}

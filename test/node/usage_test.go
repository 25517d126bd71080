package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/test/cluster"
)

// A podUsage is what a kubelet reports of a pod:
// https://kubernetes.io/docs/reference/instrumentation/node-metrics/
type podUsage struct {
	PodRef struct{ Namespace, Name string }
	CPU    struct{ UsageNanoCores int64 }
	Memory struct{ WorkingSetBytes int64 }
}

// tell prints the working set of each pod in MiB, and its recent use of CPU in
// thousandths of a core.
func (u *usage) tell(t *testing.T) {
	t.Helper()
	pods, err := u.all(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pods {
		tell("  %4d MiB %4d mCPU  %s/%s", p.Memory.WorkingSetBytes>>20, p.CPU.UsageNanoCores/1e6, p.PodRef.Namespace, p.PodRef.Name)
	}
}

// tellOf is tell once the kubelets know what all pods of a claim use, of which
// there are n. They look every ten seconds or so.
func (u *usage) tellOf(t *testing.T, namespace, claim string, n int) {
	t.Helper()
	cluster.Eventually(t, "the usage of pods", func(ctx context.Context) error {
		pods, err := u.all(ctx)
		if err != nil {
			return err
		}
		known := 0
		for _, p := range pods {
			if p.PodRef.Namespace == namespace && strings.HasPrefix(p.PodRef.Name, claim+"-") && p.CPU.UsageNanoCores > 0 {
				known++
			}
		}
		if known < n {
			return fmt.Errorf("that of %d pods is known, want %d", known, n)
		}
		return nil
	})
	u.tell(t)
}

// all returns what pods use, in the order of their namespaces, except those that are
// younger than the kubelet's last look.
func (u *usage) all(ctx context.Context) ([]podUsage, error) {
	nodes, err := u.RunKubectl(ctx, "get", "nodes", "--output=jsonpath={.items[*].metadata.name}")
	if err != nil {
		return nil, err
	}
	var pods []podUsage
	for node := range strings.FieldsSeq(nodes) {
		raw, err := u.RunKubectl(ctx, "get", "--raw", "/api/v1/nodes/"+node+"/proxy/stats/summary")
		if err != nil {
			return nil, err
		}
		var summary struct{ Pods []podUsage }
		if err := json.Unmarshal([]byte(raw), &summary); err != nil {
			return nil, fmt.Errorf("cannot read the summary of node %q: %w", node, err)
		}
		pods = append(pods, summary.Pods...)
	}
	pods = slices.DeleteFunc(pods, func(p podUsage) bool { return p.Memory.WorkingSetBytes == 0 })
	slices.SortStableFunc(pods, func(a, b podUsage) int { return strings.Compare(a.PodRef.Namespace, b.PodRef.Namespace) })
	return pods, nil
}

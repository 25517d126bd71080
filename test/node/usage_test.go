package node_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// A podUsage is what a kubelet reports of a pod:
// https://kubernetes.io/docs/reference/instrumentation/node-metrics/
type podUsage struct {
	PodRef struct{ Namespace, Name string }
	CPU    struct{ UsageNanoCores int64 }
	Memory struct{ WorkingSetBytes int64 }
}

// tellUsage prints the working set of each pod in MiB, and its recent use of CPU in
// thousandths of a core.
func (w *world) tellUsage(t *testing.T) {
	t.Helper()
	nodes := strings.Fields(w.Kubectl(t, "get", "nodes", "--output=jsonpath={.items[*].metadata.name}"))
	for _, node := range nodes {
		var summary struct{ Pods []podUsage }
		raw := w.Kubectl(t, "get", "--raw", "/api/v1/nodes/"+node+"/proxy/stats/summary")
		if err := json.Unmarshal([]byte(raw), &summary); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(summary.Pods, func(a, b podUsage) int { return strings.Compare(a.PodRef.Namespace, b.PodRef.Namespace) })
		for _, p := range summary.Pods {
			if p.Memory.WorkingSetBytes == 0 {
				continue // younger than the kubelet's last look
			}
			tell("  %4d MiB %4d mCPU  %s/%s", p.Memory.WorkingSetBytes>>20, p.CPU.UsageNanoCores/1e6, p.PodRef.Namespace, p.PodRef.Name)
		}
	}
}

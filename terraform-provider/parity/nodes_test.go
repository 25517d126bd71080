package parity

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func nodeScenarios() []scenario {
	expression := func(key, operator string, values ...any) object {
		out := object{"key": key, "operator": operator}
		if len(values) > 0 {
			out["values"] = values
		}
		return out
	}
	least := object{"labels": object{"example.org/any": "true"}}
	most := object{"labels": object{"example.org/pool": "large", "example.org/fast": "true"}, "matchExpressions": []any{
		expression("parity", "Exists"), expression("memory", "Gt", "32"), expression("disk", "NotIn", "slow", "none"),
	}, "matchLabels": object{"parity": "here"}, "capacity": object{"cpu": "4"}, "nodeInfo": object{"architecture": "amd*"}, "priority": 3}
	other := object{"labels": object{"example.org/pool": "small"}, "matchExpressions": []any{expression("memory", "Lt", "32"), expression("gpu", "DoesNotExist")}}
	out := standardScenarios("node_label_rule", "nodelabelrules", least, most, other)
	for i := range out {
		out[i].terraform = object{"name": resourceName}
		out[i].prepare = func(s *servers) {
			for name, memory := range map[string]string{"large": "64", "small": "16"} {
				s.node(name, map[string]string{"parity": "here", "memory": memory, "disk": "fast"})
			}
		}
	}
	return out
}

// node creates a node of the cluster, and deletes it when the test ends.
func (s *servers) node(name string, labels map[string]string) {
	s.t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Status: corev1.NodeStatus{
		Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("8")}, NodeInfo: corev1.NodeSystemInfo{Architecture: "amd64"},
	}}
	if err := s.kubernetes.Client().Create(s.t.Context(), n); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := s.kubernetes.Client().Delete(context.Background(), n); client.IgnoreNotFound(err) != nil {
			s.t.Error(err)
		}
	})
}

// nodes adds the nodes of the cluster with their labels.
func (s *servers) nodes(out map[string]string) {
	s.t.Helper()
	var list corev1.NodeList
	if err := s.kubernetes.Client().List(s.t.Context(), &list); err != nil {
		s.t.Fatal(err)
	}
	for _, n := range list.Items {
		for key, value := range n.Labels {
			out["node "+n.Name+" label "+key] = value
		}
	}
}

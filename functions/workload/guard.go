package workload

import (
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Budget lets one pod with the labels be evicted at a time, and broken ones
// always: a node can be drained, and what the drain breaks recovers before the
// next pod goes.
func Budget(namespace, name string, labels map[string]string) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable:             new(intstr.FromInt32(1)),
			Selector:                   &metav1.LabelSelector{MatchLabels: labels},
			UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
		},
	}
}

// A Door is a port, and who may come in by it. No port means all ports, and no
// peers means everyone.
type Door struct {
	Port  int32
	Peers []networkingv1.NetworkPolicyPeer
}

// Guard closes all ports of the pods with the labels but for the doors.
func Guard(namespace, name string, labels map[string]string, doors ...Door) *networkingv1.NetworkPolicy {
	out := &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: labels},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
		},
	}
	for _, d := range doors {
		rule := networkingv1.NetworkPolicyIngressRule{From: d.Peers}
		if d.Port > 0 {
			rule.Ports = []networkingv1.NetworkPolicyPort{{Protocol: new(protocolTCP), Port: new(intstr.FromInt32(d.Port))}}
		}
		out.Spec.Ingress = append(out.Spec.Ingress, rule)
	}
	return out
}

// Pods of the same namespace with the labels.
func Pods(labels map[string]string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchLabels: labels}}
}

// Network is a range of addresses.
func Network(cidr string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: cidr}}
}

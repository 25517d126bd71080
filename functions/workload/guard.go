package workload

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
)

// A Door is a port, and who may come in by it. No port means all ports, and no
// peers means everyone.
type Door struct {
	Port  int32
	Peers []networkingv1.NetworkPolicyPeer
}

// A Way leads out of pods: to a port of peers, like a Door that others have.
type Way = networkingv1.NetworkPolicyEgressRule

// Guard closes all ports of the pods with the labels but for the doors, and keeps the pods
// from connecting to anything but by the ways.
func Guard(namespace, name string, labels map[string]string, doors []Door, ways []Way) *networkingv1.NetworkPolicy {
	out := &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: labels},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Egress:      ways,
		},
	}
	for _, d := range doors {
		rule := networkingv1.NetworkPolicyIngressRule{From: d.Peers}
		if d.Port > 0 {
			rule.Ports = []networkingv1.NetworkPolicyPort{port(protocolTCP, d.Port)}
		}
		out.Spec.Ingress = append(out.Spec.Ingress, rule)
	}
	return out
}

// Guarded reports whether the claim wants network policies.
func Guarded(n v1.NetworkPolicy) bool { return n != v1.NetworkPolicyDisabled }

// linkLocal are the addresses at which clouds offer the credentials of the node.
const linkLocal, linkLocal6 = "169.254.0.0/16", "fe80::/10"

// Outside are the ways to name servers, and by TCP to the servers of NATS, object stores and
// hubs, whose ports no claim knows: to all addresses but link-local ones. Pods with a
// service account of their own may need those to prove who they are.
func Outside(s *v1.Scheduling) []Way {
	dns := Way{Ports: []networkingv1.NetworkPolicyPort{port(corev1.ProtocolUDP, 53), port(protocolTCP, 53)}}
	all := Way{
		Ports: []networkingv1.NetworkPolicyPort{{Protocol: new(protocolTCP)}},
		To: []networkingv1.NetworkPolicyPeer{
			{NamespaceSelector: &metav1.LabelSelector{}}, // some networks take pods for no addresses
			{IPBlock: &networkingv1.IPBlock{CIDR: "0.0.0.0/0", Except: []string{linkLocal}}},
			{IPBlock: &networkingv1.IPBlock{CIDR: "::/0", Except: []string{linkLocal6}}},
		},
	}
	if s != nil && s.ServiceAccountName != "" {
		all.To = nil
	}
	return []Way{dns, all}
}

// Anywhere is the way to everything.
func Anywhere() []Way { return []Way{{}} }

// To is the way to all ports of peers.
func To(peers ...networkingv1.NetworkPolicyPeer) Way { return Way{To: peers} }

func port(protocol corev1.Protocol, number int32) networkingv1.NetworkPolicyPort {
	return networkingv1.NetworkPolicyPort{Protocol: new(protocol), Port: new(intstr.FromInt32(number))}
}

// Pods of the same namespace with the labels.
func Pods(labels map[string]string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchLabels: labels}}
}

// Network is a range of addresses.
func Network(cidr string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: cidr}}
}

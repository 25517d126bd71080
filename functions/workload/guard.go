package workload

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/internal/network/egress"
	"github.com/gorizond/koldun/internal/network/linklocal"
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

// metadata are the networks at which clouds offer the credentials of the node, of IPv4 and
// of IPv6.
func metadata() (v4, v6 []string) {
	for _, n := range linklocal.Networks() {
		if n.Addr().Is4() {
			v4 = append(v4, n.String())
		} else {
			v6 = append(v6, n.String())
		}
	}
	return v4, v6
}

// identity is the port of the servers that exchange the token of a service account for
// credentials of a cloud.
const identity = 443

// Outside are the ways to name servers, and by TCP to ports of all addresses but those of
// metadata. Pods with a service account of their own reach those, and the servers behind them,
// to prove who they are.
func Outside(s *v1.Scheduling, ports []int32) []Way {
	out := []Way{{Ports: []networkingv1.NetworkPolicyPort{port(corev1.ProtocolUDP, 53), port(protocolTCP, 53)}}}
	account := s != nil && s.ServiceAccountName != ""
	if account {
		identities := Way{Ports: anyPort()}
		for _, n := range linklocal.Networks() {
			identities.To = append(identities.To, Network(n.String()))
		}
		out = append(out, identities)
		ports = egress.Union(ports, []int32{identity})
	}
	if len(ports) == 0 {
		return out
	}
	return append(out, Way{Ports: tcp(ports), To: world()})
}

// AnyPort are the ways to name servers, and by TCP to all addresses but those of metadata, of
// pods that need servers whose ports are not known. For those of metadata see Outside.
func AnyPort(s *v1.Scheduling) []Way {
	return append(Outside(s, nil), Way{Ports: anyPort(), To: world()})
}

// world are all addresses but those of metadata.
func world() []networkingv1.NetworkPolicyPeer {
	v4, v6 := metadata()
	return []networkingv1.NetworkPolicyPeer{
		{NamespaceSelector: &metav1.LabelSelector{}}, // some networks take pods for no addresses
		{IPBlock: &networkingv1.IPBlock{CIDR: "0.0.0.0/0", Except: v4}},
		{IPBlock: &networkingv1.IPBlock{CIDR: "::/0", Except: v6}},
	}
}

// Anywhere is the way to everything.
func Anywhere() []Way { return []Way{{}} }

// To is the way to ports of peers; to all ports if none are given.
func To(peers []networkingv1.NetworkPolicyPeer, ports ...int32) Way {
	return Way{To: peers, Ports: tcp(ports)}
}

func anyPort() []networkingv1.NetworkPolicyPort {
	return []networkingv1.NetworkPolicyPort{{Protocol: new(protocolTCP)}}
}

func tcp(ports []int32) (out []networkingv1.NetworkPolicyPort) {
	for _, number := range ports {
		out = append(out, port(protocolTCP, number))
	}
	return out
}

func port(protocol corev1.Protocol, number int32) networkingv1.NetworkPolicyPort {
	return networkingv1.NetworkPolicyPort{Protocol: new(protocol), Port: new(intstr.FromInt32(number))}
}

// Pods of the same namespace with the labels.
func Pods(labels map[string]string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchLabels: labels}}
}

// Kind are the pods of all objects of a kind of the same namespace.
func Kind(kind string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: label(kind), Operator: metav1.LabelSelectorOpExists}},
	}}
}

// Network is a range of addresses.
func Network(cidr string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: cidr}}
}

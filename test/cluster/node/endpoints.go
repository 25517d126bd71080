package node

import (
	"net"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/gorizond/koldun/internal/local/pod"
)

// endpoints returns the sorted addresses of the ready pods of a Service.
func (n *Node) endpoints(to serviceName) []string {
	service, err := n.services.Services(to.namespace).Get(to.service)
	if err != nil || len(service.Spec.Selector) == 0 {
		return nil
	}
	pods, err := n.pods.Pods(to.namespace).List(labels.SelectorFromSet(service.Spec.Selector))
	if err != nil {
		return nil
	}
	target, ok := target(service, to)
	if !ok {
		return nil
	}
	var out []string
	for _, p := range pods {
		l := n.worker(p.Namespace + "/" + p.Name)
		if l == nil || l.uid != p.UID || to.pod != "" && p.Spec.Hostname != to.pod && p.Name != to.pod {
			continue
		}
		if port, ok := l.plan.Port(target); ok && l.serves(service.Spec.PublishNotReadyAddresses) {
			out = append(out, net.JoinHostPort(address, strconv.Itoa(port)))
		}
	}
	slices.Sort(out)
	return out
}

// target returns the port of a pod for a Service name. The ports of a headless
// Service are those of its pods.
func target(s *corev1.Service, to serviceName) (pod.NameOrPort, bool) {
	if s.Spec.ClusterIP == corev1.ClusterIPNone {
		return pod.NameOrPort{Number: to.port}, true
	}
	for _, p := range s.Spec.Ports {
		switch {
		case int(p.Port) != to.port:
		case p.TargetPort.Type == intstr.String:
			return pod.NameOrPort{Name: p.TargetPort.StrVal}, true
		case p.TargetPort.IntVal == 0:
			return pod.NameOrPort{Number: to.port}, true
		default:
			return pod.NameOrPort{Number: int(p.TargetPort.IntVal)}, true
		}
	}
	return pod.NameOrPort{}, false
}

// serves reports whether the pod accepts connections.
func (l *podWorker) serves(unready bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.over && (unready || l.ready && !l.ending)
}

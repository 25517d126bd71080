package local

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/gorizond/koldun/internal/local/pod"
)

const kindStatefulSet = "StatefulSet"

// hosts gives the pods of StatefulSets their ports. Other pods name such a pod
// before it starts and while it is replaced, so its ports stay the same until
// the StatefulSet is removed. The goroutine of Run calls it.
type hosts struct {
	ports *pod.Ports
	known map[podPort]int
}

// A podPort is a port of a pod by the number in its spec.
type podPort struct {
	namespace, pod string
	number         int
}

func newHosts(ports *pod.Ports) *hosts {
	return &hosts{ports: ports, known: map[podPort]int{}}
}

// port returns the local port.
func (h *hosts) port(at podPort) (int, error) {
	if port, ok := h.known[at]; ok {
		return port, nil
	}
	port, err := h.ports.Take()
	if err != nil {
		return 0, fmt.Errorf("cannot give port %d of pod %q a number: %w", at.number, at.pod, err)
	}
	h.known[at] = port
	return port, nil
}

// address returns the local address of a port.
func (h *hosts) address(namespace, name string, number int) (string, error) {
	port, err := h.port(podPort{namespace, name, number})
	if err != nil {
		return "", err
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
}

// take returns the local ports of a pod by name.
func (h *hosts) take(namespace, name string, containers []pod.Container) (map[string]int, error) {
	ports := map[string]int{}
	for _, c := range containers {
		for _, cp := range c.Ports {
			if cp.Name == "" {
				continue
			}
			port, err := h.port(podPort{namespace, name, cp.ContainerPort})
			if err != nil {
				return nil, err
			}
			ports[cp.Name] = port
		}
	}
	return ports, nil
}

// forget gives the ports of the pods of a StatefulSet back.
func (h *hosts) forget(set Key) {
	for at, port := range h.known {
		ordinal, ofSet := strings.CutPrefix(at.pod, set.Name+"-")
		if _, err := strconv.Atoi(ordinal); at.namespace == set.Namespace && ofSet && err == nil && set.Kind == kindStatefulSet {
			h.ports.Give(map[string]int{at.pod: port})
			delete(h.known, at)
		}
	}
}

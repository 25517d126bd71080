package modelorchestra

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
)

// check returns what is wrong with volumes, mounts, ports and probes, which the API
// server would refuse or which would never work.
func (w part) check() error {
	for _, check := range []func() error{w.checkVolumes, w.checkPorts, w.checkService, w.checkProbes} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// A listener is a port of one protocol.
type listener struct {
	number   int32
	protocol corev1.Protocol
}

func (w part) checkPorts() error {
	names, numbers := map[string]bool{}, map[listener]bool{}
	for _, p := range w.Ports {
		l := listener{p.ContainerPort, cmp.Or(p.Protocol, corev1.ProtocolTCP)}
		if names[p.Name] || numbers[l] {
			return fmt.Errorf("ports: another port has the name %q or the number %d: choose another", p.Name, p.ContainerPort)
		}
		names[p.Name], numbers[l] = true, true
		if w.component == gateway && p.Name == portInternal && p.ContainerPort != w.internal {
			return fmt.Errorf("ports: port %q is %d, and config.internalPort is %d: give both one number", p.Name, p.ContainerPort, w.internal)
		}
	}
	return nil
}

func (w part) checkService() error {
	if w.Service == nil {
		return nil
	}
	names, numbers := map[string]bool{}, map[listener]bool{}
	for _, p := range w.Service.Ports {
		l := listener{p.Port, cmp.Or(p.Protocol, corev1.ProtocolTCP)}
		switch {
		case names[p.Name] || numbers[l]:
			return fmt.Errorf("service.ports: another port has the name %q or the number %d: choose another", p.Name, p.Port)
		case p.TargetPort != "" && w.port(p.TargetPort) == 0:
			return fmt.Errorf("service.ports: the pods have no port %q: add it to ports", p.TargetPort)
		case w.component != gateway:
		case p.Name == portInternal && p.Port != w.internal, p.Port == w.internal && w.target(p) != w.internal:
			return fmt.Errorf("service.ports: readers connect to port %d, which is config.internalPort: port %q must not change its number or lead elsewhere", w.internal, p.Name)
		}
		names[p.Name], numbers[l] = true, true
	}
	return nil
}

// target is the number of the port of the pods behind a port of the Service.
func (w part) target(p v1.OrchestraServicePort) int32 {
	return cmp.Or(w.port(cmp.Or(p.TargetPort, p.Name)), p.Port)
}

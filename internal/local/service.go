package local

import (
	"fmt"
	"net"
	"strconv"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/local/pod"
	"github.com/gorizond/koldun/internal/local/proxy"
)

// A service opens the ports of a Service on the loopback interface. A headless
// Service (clusterIP: None) opens none.
type service struct {
	l    *Local
	e    *entry
	spec serviceSpec
	open map[int]*proxy.Proxy // by the Service's port
}

type serviceSpec struct {
	ClusterIP string            `json:"clusterIP"`
	Type      string            `json:"type"`
	Selector  map[string]string `json:"selector"`
	Ports     []servicePort     `json:"ports"`
}

type servicePort struct {
	Port       int            `json:"port"`
	TargetPort pod.NameOrPort `json:"targetPort"`
}

func (p servicePort) target() pod.NameOrPort {
	if p.TargetPort == (pod.NameOrPort{}) {
		return pod.NameOrPort{Number: p.Port}
	}
	return p.TargetPort
}

func (s *service) apply() {
	s.spec = serviceSpec{}
	if err := s.e.obj.Decode(&s.spec, "spec"); err != nil {
		s.l.fail(fault.As(fault.Invalid, err))
		return
	}
	if s.spec.ClusterIP == "None" || s.spec.Type == "ExternalName" {
		s.spec.Ports = nil
	}
	want := map[int]bool{}
	for i, p := range s.spec.Ports {
		want[p.Port] = true
		if s.open[p.Port] != nil {
			continue
		}
		if err := s.listen(p.Port, i == 0); err != nil {
			s.l.fail(err)
			return
		}
	}
	for port, p := range s.open {
		if !want[port] {
			p.Close()
			delete(s.open, port)
		}
	}
	s.refresh()
}

// listen opens a port. It does not wait for a port in use.
func (s *service) listen(port int, first bool) error {
	local := s.local(port, first)
	p, err := proxy.Listen(s.l.ctx, local, s.l.cfg.Logger)
	if err != nil {
		return fmt.Errorf("cannot open port %d of %s: %w; choose another one with --port %s:%d=PORT", port, s.e.key, err, s.e.key.Name, port)
	}
	if s.open == nil {
		s.open = map[int]*proxy.Proxy{}
	}
	s.open[port] = p
	s.l.runners.Go(func() { p.Serve(s.l.ctx) })
	endpoint := Endpoint{Service: s.e.key, Port: port, Address: p.Address()}
	s.l.table.emit(Event{Type: Listening, Object: s.e.key, Endpoint: endpoint})
	return nil
}

// local returns the local port for a port of the Service.
func (s *service) local(port int, first bool) int {
	if n, ok := s.l.cfg.Ports[s.e.key.Name+":"+strconv.Itoa(port)]; ok {
		return n
	}
	if n, ok := s.l.cfg.Ports[s.e.key.Name]; ok && first {
		return n
	}
	return port
}

// refresh routes new connections to the pods that are ready now.
func (s *service) refresh() {
	for _, p := range s.spec.Ports {
		if open := s.open[p.Port]; open != nil {
			open.Set(s.backends(p.target()))
		}
	}
}

func (s *service) backends(target pod.NameOrPort) []string {
	var addrs []string
	for _, w := range s.workloads() {
		for _, name := range sortedKeys(w.pods) {
			p := w.pods[name]
			if port, ok := p.plan.Port(target); ok && p.serves() {
				addrs = append(addrs, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
			}
		}
	}
	return addrs
}

// workloads returns the workloads whose pods the Service selects.
func (s *service) workloads() []*workload {
	var selected []*workload
	for _, key := range s.l.table.order {
		w, ok := s.l.table.entries[key].unit.(*workload)
		if ok && key.Namespace == s.e.key.Namespace && len(s.spec.Selector) > 0 && selects(s.spec.Selector, w.spec.Template.Metadata.Labels) {
			selected = append(selected, w)
		}
	}
	return selected
}

func selects(selector, labels map[string]string) bool {
	for k, v := range selector {
		if labels[k] != v {
			return false
		}
	}
	return true
}

func (s *service) stop(_ stopReason, done func()) {
	for _, p := range s.open {
		p.Close()
	}
	s.open = nil
	done()
}

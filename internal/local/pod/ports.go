package pod

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"

	"github.com/gorizond/koldun/internal/fault"
)

// Ports are given out from a range below the one from which systems take the
// near end of outgoing connections: nothing else is likely to take a port
// between the moment it is given out and the moment its process listens.
const (
	firstPort = 20000
	portCount = 12000
)

// Ports gives out free ports of the loopback interface. It is safe for
// concurrent use.
type Ports struct {
	mu    sync.Mutex
	next  int
	taken map[int]bool
}

// NewPorts makes a Ports. Two processes are unlikely to begin at the same port.
func NewPorts() *Ports {
	return &Ports{next: os.Getpid() * 97 % portCount, taken: map[int]bool{}}
}

// Take gives out a port that nobody listens on, until it is given back.
func (p *Ports) Take() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range portCount {
		port := firstPort + p.next
		p.next = (p.next + 1) % portCount
		if !p.taken[port] && free(port) {
			p.taken[port] = true
			return port, nil
		}
	}
	return 0, fault.Errorf(fault.Transient, "cannot find a free port from %d to %d", firstPort, firstPort+portCount-1)
}

// Give gives ports back.
func (p *Ports) Give(ports map[string]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, port := range ports {
		delete(p.taken, port)
	}
}

// For takes a port for every named port of the containers.
func (p *Ports) For(containers []Container) (map[string]int, error) {
	ports := map[string]int{}
	for _, c := range containers {
		for _, cp := range c.Ports {
			if _, ok := ports[cp.Name]; ok || cp.Name == "" {
				continue
			}
			port, err := p.Take()
			if err != nil {
				p.Give(ports)
				return nil, fmt.Errorf("cannot give port %q of container %q a number: %w", cp.Name, c.Name, err)
			}
			ports[cp.Name] = port
		}
	}
	return ports, nil
}

func free(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))) //nolint:noctx // ends at once
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}

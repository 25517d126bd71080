package pod

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"

	"github.com/gorizond/koldun/internal/fault"
)

// Ports come from a range below the ephemeral ports, so that it is unlikely that
// another program takes a port before its process listens.
const (
	firstPort = 20000
	portCount = 12000
)

// Ports allocates free ports of the loopback interface. It is safe for concurrent
// use.
type Ports struct {
	mu    sync.Mutex
	next  int
	taken map[int]bool
}

// NewPorts returns a Ports with a random first port, so that processes rarely
// collide.
func NewPorts() *Ports {
	return &Ports{next: os.Getpid() * 97 % portCount, taken: map[int]bool{}}
}

// Take allocates a free port until Give.
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

// Give releases ports.
func (p *Ports) Give(ports map[string]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, port := range ports {
		delete(p.taken, port)
	}
}

// For allocates a port for every named port of the containers.
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

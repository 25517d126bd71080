package pod

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
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

// Ports allocates free ports of the loopback interface. No other Ports, of this process
// or of another one, allocates a port until Give, or until the process ends: not even
// while the server that the port is for does not listen, as before its start and between
// restarts. It is safe for concurrent use.
type Ports struct {
	mu    sync.Mutex
	next  int
	taken map[int]io.Closer
}

// NewPorts returns a Ports with a random first port.
func NewPorts() *Ports {
	return &Ports{next: rand.IntN(portCount), taken: map[int]io.Closer{}}
}

// Take allocates a free port until Give.
func (p *Ports) Take() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range portCount {
		port := firstPort + p.next
		p.next = (p.next + 1) % portCount
		if reservation, ok := reserve(port); ok {
			p.taken[port] = reservation
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
		if reservation, ok := p.taken[port]; ok {
			_ = reservation.Close() // it sent nothing
			delete(p.taken, port)
		}
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

// reserve takes a free TCP port until Close: it holds the UDP port of the same number,
// which no pod uses and the system takes back from a process that was killed.
func reserve(port int) (io.Closer, bool) {
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	reservation, err := net.ListenPacket("udp", addr) //nolint:noctx // ends at once
	if err != nil {
		return nil, false
	}
	l, err := net.Listen("tcp", addr) //nolint:noctx // ends at once
	if err != nil {
		_ = reservation.Close()
		return nil, false
	}
	_ = l.Close()
	return reservation, true
}

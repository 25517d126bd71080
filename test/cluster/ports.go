package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// The range of ports that no system takes for outgoing connections by itself,
// below those of pods (see internal/local/pod): what is free here stays free
// until our program takes it.
const (
	firstPort = 15000
	lastPort  = 20000
)

// ports finds n free TCP ports.
func ports(n int) ([]int, error) {
	var found []int
	for range 100 * n {
		port := firstPort + rand.IntN(lastPort-firstPort)
		l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
		if err != nil {
			continue
		}
		// Closed last, so that no port is found twice.
		defer l.Close() //nolint:errcheck // nothing was sent
		if found = append(found, port); len(found) == n {
			return found, nil
		}
	}
	return nil, fmt.Errorf("cannot find %d free ports", n)
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

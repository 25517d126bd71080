package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// This range is outside the ephemeral ports of all systems and below the ports of
// pods (see internal/local/pod), so that a free port stays free until a program of
// the cluster uses it.
const (
	firstPort = 15000
	lastPort  = 20000
)

// Ports finds n TCP ports that are free on all addresses, and that no other process of
// the tests takes as long as this one runs.
func Ports(n int) ([]int, error) {
	var found []int
	for range 100 * n {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if !hold(port) {
			continue
		}
		l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
		if err != nil {
			continue
		}
		// Deferred, so that no port is found twice.
		defer l.Close() //nolint:errcheck // nothing was sent
		if found = append(found, port); len(found) == n {
			return found, nil
		}
	}
	return nil, fmt.Errorf("cannot find %d free ports", n)
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

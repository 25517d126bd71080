//go:build !linux || !(amd64 || arm64)

package rawconn

import (
	"net"
	"time"
)

func wrap(c net.Conn) net.Conn { return c }

func end(c net.Conn) { _ = c.Close() }

func setLowWater(net.Conn, int) {}

func begin(address string, timeout time.Duration) (net.Conn, func() (net.Conn, error), error) {
	return nil, func() (net.Conn, error) { return dialNet(address, timeout) }, nil
}

//go:build !linux || !(amd64 || arm64)

package rawconn

import "net"

func wrap(c net.Conn) net.Conn { return c }

func end(c net.Conn) { _ = c.Close() }

func setLowWater(net.Conn, int) {}

//go:build !linux

package porttest

import (
	"errors"
	"net"
)

// reserve finds a free port: only on Linux can it be reserved.
func reserve() (port int, release func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, nil, errors.Join(errors.New("a TCP listener has no TCP address"), l.Close())
	}
	return addr.Port, func() {}, l.Close()
}

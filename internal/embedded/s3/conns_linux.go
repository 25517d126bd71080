package s3

import (
	"net/netip"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// cutConns ends the reading side of the connections that this process accepted
// at addr. The library waits for connections on which a client never sent a
// request, as HTTP clients keep in reserve, and offers no way to close them.
func cutConns(addr string) {
	want, err := netip.ParseAddrPort(addr)
	if err != nil {
		return
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		local, err := unix.Getsockname(fd)
		if err != nil || sockAddr(local) != want {
			continue
		}
		if _, err := unix.Getpeername(fd); err == nil { // not the listener
			_ = unix.Shutdown(fd, unix.SHUT_RD)
		}
	}
}

func sockAddr(sa unix.Sockaddr) netip.AddrPort {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr).Unmap(), uint16(sa.Port))
	}
	return netip.AddrPort{}
}

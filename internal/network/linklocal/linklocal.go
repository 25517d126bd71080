// Package linklocal keeps clients from link-local addresses, at which clouds hand out the
// credentials of a machine (169.254.169.254). No hub, object store or NATS server has one.
package linklocal

import (
	"fmt"
	"net/netip"
	"syscall"
)

// An Error says that a server has an address that none may have.
type Error struct{ Addr netip.Addr }

func (e Error) Error() string {
	return fmt.Sprintf("its address %s is a link-local one, a group's or none, which no server may have: clouds serve credentials there", e.Addr)
}

// Is reports whether nothing but the machine itself, its cloud's metadata or a group answers
// at an address.
func Is(ip netip.Addr) bool {
	return ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified()
}

// Check returns the address, without its zone, of IP:PORT. Errors: Error.
func Check(address string) (netip.Addr, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("cannot read address %q: %w", address, err)
	}
	ip := at.Addr().WithZone("").Unmap()
	if Is(ip) {
		return ip, Error{ip}
	}
	return ip, nil
}

// Refuse is the Control of a net.Dialer, which calls it with the address that it is about to
// connect to: a name may have another one each time. Errors: Error.
func Refuse(_, address string, _ syscall.RawConn) error {
	_, err := Check(address)
	return err
}

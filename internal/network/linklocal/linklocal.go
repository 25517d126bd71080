// Package linklocal keeps clients from link-local addresses and others at which clouds hand
// out the credentials of a machine (169.254.169.254). No hub, object store or NATS server has
// one.
package linklocal

import (
	"fmt"
	"net/netip"
	"slices"
	"syscall"
)

// Networks returns what no server of ours may have: link-local networks, and the addresses
// outside of them that clouds give the service with the metadata and credentials of a machine.
func Networks() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("169.254.0.0/16"),     // AWS, Azure, Google, OpenStack and others
		netip.MustParsePrefix("100.100.100.200/32"), // Alibaba
		netip.MustParsePrefix("168.63.129.16/32"),   // Azure, of the agent of a machine
		netip.MustParsePrefix("192.0.0.192/32"),     // Oracle
		netip.MustParsePrefix("fe80::/10"),
		netip.MustParsePrefix("fd00:42::42/128"),        // Scaleway
		netip.MustParsePrefix("fd00:c1::a9fe:a9fe/128"), // Oracle
		netip.MustParsePrefix("fd00:ec2::254/128"),      // AWS
		netip.MustParsePrefix("fd20:ce::254/128"),       // Google
	}
}

// An Error says that a server has an address that none may have.
type Error struct{ Addr netip.Addr }

func (e Error) Error() string {
	return fmt.Sprintf("its address %s is a link-local one, one of a cloud's metadata, a group's or none, which no server may have: clouds serve credentials there", e.Addr)
}

// Is reports whether nothing but the machine itself, its cloud's metadata or a group answers
// at an address, also where it is that of an IPv4 network in IPv6.
func Is(ip netip.Addr) bool {
	if v4, ok := Embedded(ip); ok && Is(v4) {
		return true
	}
	return ip.IsMulticast() || ip.IsUnspecified() || slices.ContainsFunc(Networks(), func(n netip.Prefix) bool { return n.Contains(ip) })
}

// Embedded returns the IPv4 address that an address of NAT64 or 6to4 leads to.
func Embedded(ip netip.Addr) (netip.Addr, bool) {
	b := ip.As16()
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(ip):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case netip.MustParsePrefix("2002::/16").Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
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

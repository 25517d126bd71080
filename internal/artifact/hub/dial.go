package hub

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/gorizond/koldun/internal/network/linklocal"
)

// An addressError says that a host has no public address.
type addressError struct{ addr netip.Addr }

func (e addressError) Error() string {
	return fmt.Sprintf("its address %s is not a public one, which hubs and what they redirect to must have: to allow it, a platform engineer names the hub in spec.hub.endpoint of a ClusterProviderConfig, or sets its spec.hub.allowPrivateAddresses", e.addr)
}

// A dialer connects to hubs and to the hosts that they redirect to. It decides by the
// address that it connects to, not by the name, which may have another one each time.
type dialer struct {
	publicOnly bool
	trusted    map[string]bool // HOST:PORT of hubs and proxies that need no public address
}

func newDialer(cfg Config) dialer {
	d := dialer{publicOnly: cfg.Reach.PublicOnly, trusted: map[string]bool{}}
	for _, endpoint := range cfg.Reach.Trusted {
		d.trust(endpoint)
	}
	for _, scheme := range []string{"http", "https"} {
		proxy, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: scheme, Host: "hub.invalid"}})
		if err == nil && proxy != nil {
			d.trust(proxy.String())
		}
	}
	return d
}

func (d dialer) trust(endpoint string) {
	if u, err := url.Parse(origin(endpoint)); err == nil && u.Host != "" {
		d.trusted[u.Host] = true
	}
}

// DialContext connects to HOST:PORT.
func (d dialer) DialContext(ctx context.Context, network, to string) (net.Conn, error) {
	plain := net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	plain.Control = func(_, address string, _ syscall.RawConn) error { return d.check(address, d.trusted[to]) }
	return plain.DialContext(ctx, network, to)
}

// check refuses an address that no hub may have. A trusted one needs no public address: a
// name may have another address tomorrow, so it is refused link-local ones, too.
func (d dialer) check(address string, trusted bool) error {
	ip, err := linklocal.Check(address)
	if err == nil && d.publicOnly && !trusted && !public(ip) {
		err = addressError{ip}
	}
	return err
}

// public reports whether an address is one of the internet, also where it is that of an
// IPv4 network in IPv6.
func public(ip netip.Addr) bool {
	if ip.IsPrivate() || ip.IsLoopback() || !ip.IsGlobalUnicast() {
		return false
	}
	for _, p := range reserved() {
		if p.Contains(ip) {
			return false
		}
	}
	if v4, ok := linklocal.Embedded(ip); ok {
		return public(v4) && !linklocal.Is(v4)
	}
	return true
}

// reserved are networks that the standard library does not call private (RFC 6890).
func reserved() []netip.Prefix {
	var out []netip.Prefix
	for _, p := range []string{"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4", "64:ff9b:1::/48", "2001::/23", "fec0::/10"} {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

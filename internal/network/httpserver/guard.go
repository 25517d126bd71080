package httpserver

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// AnyHost in Options.Hosts allows every host.
const AnyHost = "*"

// Guard is what Serve does first, for a server of a library that Serve cannot run.
func Guard(h http.Handler) http.Handler { return guard(h, nil) }

// guard refuses requests that pages of other sites send, to the server's own address or,
// after the owner of a site has pointed its name there, to that name. Every server of
// Koldun passes it, because one on loopback trusts all that reach it, and the browser of
// its user does.
func guard(h http.Handler, hosts []string) http.Handler {
	h = sameOrigin(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !serves(hosts, r.Host) {
			writeText(w, http.StatusMisdirectedRequest, "this server does not serve the host of the request\n")
			return
		}
		h.ServeHTTP(w, r)
	})
}

func serves(hosts []string, host string) bool {
	if len(hosts) == 0 {
		host = bare(host)
		return isAddress(host) || inCluster(host)
	}
	return slices.Contains(hosts, AnyHost) || AllowsHost(hosts, host)
}

// HostsOrAny returns hosts, or AnyHost if the list is empty.
func HostsOrAny(hosts []string) []string {
	if len(hosts) == 0 {
		return []string{AnyHost}
	}
	return hosts
}

// AllowsHost reports whether a request with the given Host header is for one of
// the allowed host names. It allows every host if the list is empty, and always
// IP addresses.
//
// A server on loopback is safe from pages of other sites only with such a list:
// the owner of a site can change the address of its name to 127.0.0.1 (DNS
// rebinding), and browsers then send requests of its pages to the server, as
// requests of the same origin. They name the site in the Host header.
func AllowsHost(allowed []string, host string) bool {
	host = bare(host)
	if len(allowed) == 0 || isAddress(host) {
		return true
	}
	return slices.ContainsFunc(allowed, func(name string) bool { return strings.EqualFold(name, host) })
}

// bare returns the host of a Host header without the port and the final dot.
func bare(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "." {
		return host
	}
	return strings.TrimSuffix(host, ".")
}

// isAddress reports whether a host is an IP address, as in probes of the kubelet and
// requests of Prometheus. No host at all counts as one: browsers always send one.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "" || err == nil
}

// inCluster reports whether a name is that of this machine, or of a Service or a pod:
// the owner of a site can have none of them.
func inCluster(host string) bool {
	host = strings.ToLower(host)
	return host == "localhost" || strings.HasSuffix(host, ".svc") || strings.HasSuffix(host, ".svc.cluster.local")
}

// sameOrigin refuses with 403 what pages of other sites send to change something. Only
// sites have pages: origins of other schemes than HTTP belong to programs on the user's
// machine.
func sameOrigin(h http.Handler) http.Handler {
	p := http.NewCrossOriginProtection()
	p.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeText(w, http.StatusForbidden, "pages of other sites may not send this request\n")
	}))
	protected := p.Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ofProgram(r.Header.Get("Origin")) {
			h.ServeHTTP(w, r)
			return
		}
		protected.ServeHTTP(w, r)
	})
}

func ofProgram(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https"
}

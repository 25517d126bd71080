package httpserver

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// AllowsHost reports whether a request with the given Host header is for one of
// the allowed host names. It allows every host if the list is empty, and always
// IP addresses.
//
// A server on loopback is safe from pages of other sites only with such a list:
// the owner of a site can change the address of its name to 127.0.0.1 (DNS
// rebinding), and browsers then send requests of its pages to the server, as
// requests of the same origin. They name the site in the Host header.
func AllowsHost(allowed []string, host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if len(allowed) == 0 || host == "" { // browsers always send a host
		return true
	}
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	host = strings.TrimSuffix(host, ".")
	return slices.ContainsFunc(allowed, func(name string) bool { return strings.EqualFold(name, host) })
}

// AllowHosts refuses requests that AllowsHost does not allow, with 421.
func AllowHosts(h http.Handler, allowed []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !AllowsHost(allowed, r.Host) {
			writeText(w, http.StatusMisdirectedRequest, "this server does not serve the host of the request\n")
			return
		}
		h.ServeHTTP(w, r)
	})
}

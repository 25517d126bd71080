// Package egress says which TCP ports a client of servers connects to, so that network
// policies can let it.
package egress

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// usual are the ports of URLs without one, by scheme.
func usual() map[string]uint16 {
	return map[string]uint16{"nats": 4222, "tls": 4222, "ws": 80, "wss": 443, "http": 80, "https": 443}
}

// mentioned finds URLs in text.
var mentioned = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s,;'"<>]+`)

// Ports returns the ports of servers, HOST[:PORT] or a URL each, separated by commas.
// Those without a scheme have the given one. What is not an address has no port.
func Ports(scheme, servers string) []int32 {
	var out []int32
	for s := range strings.SplitSeq(servers, ",") {
		if s = strings.TrimSpace(s); s != "" && !strings.Contains(s, "://") {
			s = scheme + "://" + s
		}
		out = append(out, portsOf(s)...)
	}
	return Union(out)
}

// Mentioned returns the ports of all URLs in texts, such as arguments.
func Mentioned(texts ...string) []int32 {
	var out []int32
	for _, text := range texts {
		for _, u := range mentioned.FindAllString(text, -1) {
			out = append(out, portsOf(u)...)
		}
	}
	return Union(out)
}

// Union returns the ports of all lists, each once, in order.
func Union(lists ...[]int32) []int32 {
	out := slices.Concat(lists...)
	slices.Sort(out)
	return slices.Compact(out)
}

// portsOf returns the port of a URL; none if it has none.
func portsOf(s string) []int32 {
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	port := usual()[strings.ToLower(u.Scheme)]
	if given := u.Port(); given != "" {
		n, err := strconv.ParseUint(given, 10, 16)
		if err != nil {
			return nil
		}
		port = uint16(n)
	}
	if port == 0 {
		return nil
	}
	return []int32{int32(port)}
}

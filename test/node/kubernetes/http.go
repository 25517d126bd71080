package kubernetes

import (
	"context"
	"net"
	"net/http"
)

// HTTP returns a client that reaches Services by their names, as pods do.
func (n *Node) HTTP() *http.Client {
	var d net.Dialer
	d.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(dnsAddress, "53"))
	}}
	return &http.Client{Transport: &http.Transport{DialContext: d.DialContext}}
}

package node

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/gorizond/koldun/internal/local/proxy"
)

// serviceName is HOST:PORT of a Service or of one of its pods: NAME.NAMESPACE.svc
// or POD.NAME.NAMESPACE.svc, with or without the cluster's domain.
var serviceName = regexp.MustCompile(`((?:[a-z0-9-]+\.)?[a-z0-9-]+\.[a-z0-9-]+)\.svc(?:\.cluster\.local)?:(\d+)`)

// A place is what a name of a Service stands for.
type place struct {
	pod, service, namespace string // pod is empty for all pods of the Service
	port                    int
}

// parse the parts of a name.
func parse(match []string) (place, error) {
	parts := strings.Split(match[1], ".")
	if len(parts) == 2 {
		parts = append([]string{""}, parts...)
	}
	port, err := strconv.Atoi(match[2])
	if err != nil || port > 65535 {
		return place{}, fmt.Errorf("cannot find %q: %q is no port", match[0], match[2])
	}
	return place{pod: parts[0], service: parts[1], namespace: parts[2], port: port}, nil
}

// doors are the ports of this machine that lead to Services. A door is opened
// when its name is first used, and stays.
type doors struct {
	ctx       context.Context //nolint:containedctx // connections last as long as the node
	endpoints func(place) []string
	serving   sync.WaitGroup

	mu   sync.Mutex
	open map[place]*proxy.Proxy
}

func newDoors(ctx context.Context, endpoints func(place) []string) *doors {
	return &doors{ctx: ctx, endpoints: endpoints, open: map[place]*proxy.Proxy{}}
}

// door is the address of this machine for a place.
func (d *doors) door(to place) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.open[to]
	if p == nil {
		var err error
		if p, err = proxy.Listen(d.ctx, 0, slog.New(slog.DiscardHandler)); err != nil {
			return "", err
		}
		d.open[to] = p
		d.serving.Go(func() { p.Serve(d.ctx) })
		p.Set(d.endpoints(to))
	}
	return p.Address(), nil
}

// refresh leads all doors to where pods are now.
func (d *doors) refresh() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for to, p := range d.open {
		p.Set(d.endpoints(to))
	}
}

// close all doors. The node's context has ended.
func (d *doors) close() {
	d.mu.Lock()
	for _, p := range d.open {
		p.Close()
	}
	d.mu.Unlock()
	d.serving.Wait()
}

// replace names of Services in a text by addresses of this machine.
func (d *doors) replace(text string) (string, error) {
	var failed error
	out := serviceName.ReplaceAllStringFunc(text, func(found string) string {
		to, err := parse(serviceName.FindStringSubmatch(found))
		if err == nil {
			found, err = d.door(to)
		}
		if err != nil {
			failed = err
		}
		return found
	})
	return out, failed
}

// Address replaces the names of Services in a text, such as a URL, by addresses
// of this machine: "http://api.default.svc.cluster.local:8082/v1" becomes
// "http://127.0.0.1:34567/v1". A connection that no pod is ready for waits for
// some seconds, and is then closed.
func (n *Node) Address(text string) (string, error) { return n.doors.replace(text) }

// HTTP is a client that knows the names of Services. Its connections are not
// used twice, so that each request goes to the next pod.
func (n *Node) HTTP() *http.Client {
	var dialer net.Dialer
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			addr, err := n.Address(addr)
			if err != nil {
				return nil, err
			}
			return dialer.DialContext(ctx, network, addr)
		},
	}}
}

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

// servicePattern matches HOST:PORT of a Service or of one of its pods: NAME.NAMESPACE.svc
// or POD.NAME.NAMESPACE.svc, with or without the cluster's domain.
var servicePattern = regexp.MustCompile(`((?:[a-z0-9-]+\.)?[a-z0-9-]+\.[a-z0-9-]+)\.svc(?:\.cluster\.local)?:(\d+)`)

// A serviceName is HOST:PORT of a Service or of one of its pods.
type serviceName struct {
	pod, service, namespace string // pod is empty for all pods of the Service
	port                    int
}

// parse parses a match of servicePattern.
func parse(match []string) (serviceName, error) {
	parts := strings.Split(match[1], ".")
	if len(parts) == 2 {
		parts = append([]string{""}, parts...)
	}
	port, err := strconv.Atoi(match[2])
	if err != nil || port > 65535 {
		return serviceName{}, fmt.Errorf("cannot find %q: %q is no port", match[0], match[2])
	}
	return serviceName{pod: parts[0], service: parts[1], namespace: parts[2], port: port}, nil
}

// proxies forward loopback ports to Services. A name gets its port on first use
// and keeps it.
type proxies struct {
	ctx       context.Context //nolint:containedctx // connections last as long as the node
	endpoints func(serviceName) []string
	serving   sync.WaitGroup

	mu   sync.Mutex
	open map[serviceName]*proxy.Proxy
}

func newProxies(ctx context.Context, endpoints func(serviceName) []string) *proxies {
	return &proxies{ctx: ctx, endpoints: endpoints, open: map[serviceName]*proxy.Proxy{}}
}

// address returns the loopback address of a Service.
func (s *proxies) address(to serviceName) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.open[to]
	if p == nil {
		var err error
		if p, err = proxy.Listen(s.ctx, 0, slog.New(slog.DiscardHandler)); err != nil {
			return "", err
		}
		s.open[to] = p
		s.serving.Go(func() { p.Serve(s.ctx) })
		p.Set(s.endpoints(to))
	}
	return p.Address(), nil
}

// refresh updates the endpoints of all proxies.
func (s *proxies) refresh() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for to, p := range s.open {
		p.Set(s.endpoints(to))
	}
}

// close closes all proxies. The node's context has ended before.
func (s *proxies) close() {
	s.mu.Lock()
	for _, p := range s.open {
		p.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
}

// replace replaces the names of Services in a text by loopback addresses.
func (s *proxies) replace(text string) (string, error) {
	var failed error
	out := servicePattern.ReplaceAllStringFunc(text, func(found string) string {
		to, err := parse(servicePattern.FindStringSubmatch(found))
		if err == nil {
			found, err = s.address(to)
		}
		if err != nil {
			failed = err
		}
		return found
	})
	return out, failed
}

// Address replaces the names of Services in a text, such as a URL, by loopback
// addresses: "http://api.default.svc.cluster.local:8082/v1" becomes
// "http://127.0.0.1:34567/v1". A connection to a Service without a ready pod
// waits for some seconds before it is closed.
func (n *Node) Address(text string) (string, error) { return n.proxies.replace(text) }

// HTTP returns a client that resolves the names of Services. It does not keep
// connections alive, so that each request goes to the next pod.
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

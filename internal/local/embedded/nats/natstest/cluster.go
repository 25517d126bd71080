package natstest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/gorizond/koldun/internal/network/httpserver/porttest"
	"github.com/gorizond/koldun/test/waittest"
)

// A Cluster is a group of NATS servers that replicate streams.
type Cluster struct {
	tb     testing.TB
	nodes  []*node
	member Member
}

// A Member completes the options of server i before each of its starts: who may
// connect. It may replace all but the addresses.
type Member func(i int, o *server.Options) error

type node struct {
	opts server.Options
	srv  *server.Server
	said complaints
}

// StartCluster runs n servers on loopback ports until the test ends. It returns
// when they have elected a leader that knows all servers: before, it refuses
// streams with n replicas.
func StartCluster(tb testing.TB, n int) *Cluster {
	tb.Helper()
	return StartMembers(tb, n, func(_ int, o *server.Options) error {
		o.Username, o.Password = User, Password
		return nil
	})
}

// StartMembers is StartCluster with servers that the caller configures.
func StartMembers(tb testing.TB, n int, member Member) *Cluster {
	tb.Helper()
	c := &Cluster{tb: tb, member: member}
	var routes []*url.URL
	var ports []int
	for range 2 * n {
		ports = append(ports, porttest.Port(tb)) // servers need all ports before they start
	}
	for i := range n {
		routes = append(routes, &url.URL{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", ports[n+i])})
	}
	for i := range n {
		c.nodes = append(c.nodes, &node{opts: server.Options{
			ServerName: fmt.Sprintf("n%d", i),
			Host:       "127.0.0.1",
			Port:       ports[i],
			JetStream:  true,
			StoreDir:   tb.TempDir(),
			MaxPayload: 8 << 20,
			Cluster:    server.ClusterOpts{Name: "koldun", Host: "127.0.0.1", Port: ports[n+i]},
			Routes:     routes,
			NoSigs:     true,
			NoLog:      true,
		}})
	}
	tb.Cleanup(func() {
		for _, node := range c.nodes {
			node.stop()
		}
	})
	for i := range c.nodes {
		c.Restart(i)
	}
	c.wait("a cluster of NATS servers", func() bool {
		for _, node := range c.nodes {
			if node.srv.JetStreamIsLeader() {
				return len(node.srv.JetStreamClusterPeers()) == n
			}
		}
		return false
	})
	return c
}

// URL returns the URLs of all servers, separated by commas.
func (c *Cluster) URL() string {
	var urls []string
	for _, n := range c.nodes {
		urls = append(urls, fmt.Sprintf("nats://127.0.0.1:%d", n.opts.Port))
	}
	return strings.Join(urls, ",")
}

// Index returns the index of a server by its name ("n0" is 0), which streams use
// for their leaders, or -1.
func (c *Cluster) Index(name string) int {
	for i, n := range c.nodes {
		if n.opts.ServerName == name {
			return i
		}
	}
	return -1
}

// Stop stops a server and waits for it.
func (c *Cluster) Stop(i int) { c.nodes[i].stop() }

// Restart starts a stopped server with its folder and ports, and waits until it
// accepts clients.
func (c *Cluster) Restart(i int) {
	c.tb.Helper()
	n := c.nodes[i]
	n.stop()
	opts := n.opts // a copy, because the server changes its options
	if err := c.member(i, &opts); err != nil {
		c.tb.Fatalf("cannot configure a NATS server: %v", err)
	}
	srv, err := server.NewServer(&opts)
	if err != nil {
		c.tb.Fatalf("cannot start a NATS server: %v", err)
	}
	srv.SetLogger(&n.said, false, false)
	n.srv = srv
	srv.Start()
	if !srv.ReadyForConnections(waittest.Patience) {
		c.tb.Fatalf("NATS server %d takes no clients; it said:\n%s", i, &n.said)
	}
}

// WaitCurrent blocks until the replicas of a server are up to date.
func (c *Cluster) WaitCurrent(i int) {
	c.tb.Helper()
	c.wait("a NATS server to catch up", func() bool {
		h := c.nodes[i].srv.Healthz(&server.HealthzOptions{})
		return h.StatusCode == http.StatusOK
	})
}

func (c *Cluster) wait(what string, ok func() bool) {
	c.tb.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(waittest.Patience); !ok(); {
		select {
		case <-tick.C:
		case <-limit:
			for i, n := range c.nodes {
				c.tb.Logf("NATS server %d said:\n%s", i, &n.said)
			}
			c.tb.Fatalf("timed out waiting for %s", what)
		}
	}
}

func (n *node) stop() {
	if n.srv == nil {
		return
	}
	n.srv.Shutdown()
	n.srv.WaitForShutdown()
	n.srv = nil
}

package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/nats/bus"
	"github.com/gorizond/koldun/internal/nats/natsauth"
	"github.com/gorizond/koldun/internal/serving/queue"
	"github.com/gorizond/koldun/test/cluster"
)

// outcomes waits until no request of a namespace is open, and returns how they ended, by
// their ids.
func (m *messaging) outcomes(t *testing.T, namespace string) map[string][]queue.Outcome {
	t.Helper()
	q := m.queue(t, namespace)
	cluster.Eventually(t, "all requests to end", func(ctx context.Context) error {
		var open error
		err := q.OpenRequests(ctx, "*", func(r queue.OpenRequest) bool {
			open = fmt.Errorf("request %s is open since %s", r.ID, r.Stored)
			return false
		})
		if err == nil {
			err = open
		}
		return err
	})
	ended := map[string][]queue.Outcome{}
	if err := q.Outcomes(t.Context(), "*", time.Time{}, func(o queue.Outcome) bool {
		ended[o.Request] = append(ended[o.Request], o)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return ended
}

// queue connects to the queue of a namespace, as koldun requests does.
func (m *messaging) queue(t *testing.T, namespace string) *queue.Queue {
	t.Helper()
	b, err := bus.Connect(t.Context(), m.nats(t, namespace, natsauth.Operator))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return queue.New(b)
}

// nats returns a connection to the account of a namespace, by a forwarded port and until the
// test ends. Its credentials are made from the keys of the servers' operator.
func (m *messaging) nats(t *testing.T, namespace string, role natsauth.Role) bus.Config {
	t.Helper()
	user, err := natsauth.Keyring(m.secret(t, "nats", "nats-operator", "accounts.key")).
		User(natsauth.Grant{Namespace: namespace, Owner: "e2e", Role: role}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	// The certificates of the servers have the name localhost, for forwarded ports.
	url := fmt.Sprintf("nats://localhost:%d", m.services.tunnel(t, "nats", "nats"))
	return bus.Config{URL: url, Creds: user.Credentials, CA: m.secret(t, "nats", "nats-client", "ca.crt"), Name: "e2e"}
}

// secret returns a value of a Secret.
func (m *messaging) secret(t *testing.T, namespace, name, key string) string {
	t.Helper()
	var data map[string][]byte
	if err := json.Unmarshal([]byte(m.Kubectl(t, "get", "secret", name, "--namespace", namespace, "--output=jsonpath={.data}")), &data); err != nil {
		t.Fatal(err)
	}
	if len(data[key]) == 0 {
		t.Fatalf("Secret %q has no key %q", name, key)
	}
	return string(data[key])
}

// tunnel forwards a port of this machine to a Service until the test ends.
func (s *services) tunnel(t *testing.T, namespace, service string) (port int) {
	t.Helper()
	ports, err := cluster.Ports(1)
	if err != nil {
		t.Fatal(err)
	}
	port = ports[0]
	target := s.Kubectl(t, "get", "service", service, "--namespace", namespace, "--output=jsonpath={.spec.ports[0].port}")
	p, err := s.Run("port-forward-"+service, filepath.Join(mustAbs(t, repository), "bin", "kubectl"), []string{"KUBECONFIG=" + s.Kubeconfig()},
		"port-forward", "--namespace", namespace, "service/"+service, fmt.Sprintf("%d:%s", port, target))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	cluster.Eventually(t, "the port to be forwarded", func(ctx context.Context) error {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return err
		}
		return c.Close()
	})
	return port
}

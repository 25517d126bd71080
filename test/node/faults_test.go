package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/history"
)

// A fault is what happens to the cluster while clients ask.
type fault struct {
	name    string
	happens func(t *testing.T)
	fails   []string // how requests may end besides the whole answer
}

// TestFaults ends each part of Koldun without grace, the leader of NATS, and drains the node.
// Meanwhile each request of several clients ends once, with the whole answer or a clean error.
func TestFaults(t *testing.T) {
	w := koldun(t)
	const claim = "testdata/steady.yaml"
	w.Kubectl(t, "apply", "-f", claim)
	w.ready(t, history.Namespace, history.ModelName)
	c := startClients(t, w.gateway(t, history.Namespace, history.ModelName+"-gateway"))
	c.more(t, sides*5)
	w.tellUsageWith(t, history.Namespace, history.ModelName, 5) // two gateways, two dispatchers, a root
	tell("%d clients ask steadily: %s", sides, c.since())
	var whole tally
	for _, f := range w.faults() {
		began := time.Now()
		s := c.during(t, slices.Contains(f.fails, string(history.Broken)), func() { f.happens(t); w.settled(t) })
		tell("%s: %s; ready again after %s", f.name, s, time.Since(began).Round(time.Second))
		for kind := range s.failed {
			if !slices.Contains(f.fails, kind) {
				t.Errorf("%s: requests ended as %s; listing models ended last with %v", f.name, kind, c.refusal())
			}
		}
		whole.answers, whole.gap = whole.answers+s.answers, max(whole.gap, s.gap)
		whole.failed = map[string]int{"retries": whole.retries() + s.retries()}
	}
	tell("All requests have ended: %s", whole)
	c.verify(t, w)
	w.deleted(t, claim)
}

// faults returns all faults. Each of a component ends all its pods, one after the other.
func (w *world) faults() []fault {
	ours := func(component string) string { return "koldun.gorizond.io/component=" + component }
	return []fault{
		{name: "gateways killed", happens: w.kills("default", ours("gateway")), fails: []string{string(history.Broken)}},
		{name: "dispatchers killed", happens: w.kills("default", ours("dispatcher"))},
		{name: "root killed", happens: w.kills("default", ours("root")), fails: []string{"interrupted"}},
		{name: "provider killed", happens: w.kills("crossplane-system", "pkg.crossplane.io/provider=gorizond-koldun-provider")},
		{name: "function killed", happens: w.kills("crossplane-system", "pkg.crossplane.io/function=gorizond-koldun-function")},
		{name: "Crossplane killed", happens: w.kills("crossplane-system", "app=crossplane")},
		{name: "leader of NATS killed", happens: w.killsLeader},
		{name: "node drained", happens: w.drains, fails: []string{string(history.Broken), "interrupted", history.ShuttingDown}},
	}
}

// kills deletes pods without grace. Of several, each goes when the one before is replaced.
func (w *world) kills(namespace, selector string) func(t *testing.T) {
	return func(t *testing.T) {
		t.Helper()
		pods := strings.Fields(w.Kubectl(t, "get", "pods", "--namespace", namespace, "--selector", selector, "--output=name"))
		if len(pods) == 0 {
			t.Fatalf("no pod of %s has the labels %s: %s", namespace, selector, w.Kubectl(t, "get", "pods", "--namespace", namespace, "--show-labels"))
		}
		for _, pod := range pods {
			w.Kubectl(t, "delete", "--namespace", namespace, pod, "--grace-period=0", "--force")
			w.podsReady(t, namespace, selector, len(pods))
		}
	}
}

// podsReady waits until so many pods are ready.
func (w *world) podsReady(t *testing.T, namespace, selector string, n int) {
	t.Helper()
	cluster.Eventually(t, "pods to be ready", func(ctx context.Context) error {
		out, err := w.RunKubectl(ctx, "get", "pods", "--namespace", namespace, "--selector", selector,
			`--output=jsonpath={range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status} {end}`)
		if err == nil && strings.Count(out, "=True") < n {
			err = fmt.Errorf("%d pods are wanted of %q", n, out)
		}
		return err
	})
}

// steady returns the numbers of the pods of testdata/steady.yaml by their components.
func steady() map[string]int { return map[string]int{"gateway": 2, "dispatcher": 2, "root": 1} }

// settled waits until all that TestFaults touches is ready.
func (w *world) settled(t *testing.T) {
	t.Helper()
	for component, n := range steady() {
		w.podsReady(t, "default", "koldun.gorizond.io/component="+component, n)
	}
	w.podsReady(t, "nats", "app.kubernetes.io/name=nats", 3)
	w.ready(t, history.Namespace, history.ModelName)
}

// killsLeader deletes the server of NATS that leads the stream of requests.
func (w *world) killsLeader(t *testing.T) {
	t.Helper()
	raw := w.Kubectl(t, "get", "--raw", "/api/v1/namespaces/nats/pods/nats-0:8222/proxy/jsz?accounts=true&streams=true")
	var state struct {
		Accounts []struct {
			Streams []struct {
				Name    string
				Cluster struct{ Leader string }
			} `json:"stream_detail"`
		} `json:"account_details"`
	}
	if err := json.Unmarshal([]byte(raw), &state); err != nil {
		t.Fatal(err)
	}
	for _, a := range state.Accounts {
		for _, s := range a.Streams {
			if strings.HasPrefix(s.Name, "KOLDUN_REQUESTS") {
				w.Kubectl(t, "delete", "pod", "--namespace", "nats", s.Cluster.Leader, "--grace-period=0", "--force")
				return
			}
		}
	}
	t.Fatalf("no server of NATS has the stream of requests: %s", raw)
}

// drains evicts the pods of the claim from the node of its root. As the cluster may have no
// other node, it takes pods again once it has been cordoned.
func (w *world) drains(t *testing.T) {
	t.Helper()
	node := w.Kubectl(t, "get", "pods", "--namespace", history.Namespace, "--selector", "koldun.gorizond.io/component=root", "--output=jsonpath={.items[0].spec.nodeName}")
	drained := make(chan error, 1)
	go func() {
		_, err := w.RunKubectl(t.Context(), "drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force",
			"--pod-selector=app.kubernetes.io/name=koldun", "--timeout=4m")
		drained <- err
	}()
	cluster.Eventually(t, "the node to be cordoned", func(ctx context.Context) error {
		out, err := w.RunKubectl(ctx, "get", "node", node, "--output=jsonpath={.spec.unschedulable}")
		if err == nil && out != "true" {
			err = fmt.Errorf("it takes pods")
		}
		return err
	})
	w.Kubectl(t, "uncordon", node)
	if err := <-drained; err != nil {
		t.Fatal(err)
	}
}

package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/internal/engine/distributedllama"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/history"
	"github.com/gorizond/koldun/test/waittest"
)

// A fault is what happens to the cluster while clients ask.
type fault struct {
	name    string
	happens func(t *testing.T)
	fails   []string // how requests may end besides the whole answer
}

// TestFaults ends each part of Koldun, Crossplane and the servers without grace, and drains the
// node.
// Meanwhile each request of several clients ends once, with the whole answer or a clean error.
func TestFaults(t *testing.T) {
	w := koldun(t)
	tell("Faults: parts of Koldun end without grace while clients ask, and each request ends once.")
	ours := func(component string) string { return "koldun.gorizond.io/component=" + component }
	w.faults.disturbs(t, "testdata/steady.yaml", steady(), []fault{
		{name: "gateways killed", happens: w.pods.kills("default", ours("gateway")), fails: []string{string(history.Broken)}},
		{name: "dispatchers killed", happens: w.pods.kills("default", ours("dispatcher"))},
		{name: "root killed", happens: w.pods.kills("default", ours("root")), fails: []string{"interrupted"}},
		{name: "provider killed", happens: w.pods.kills("crossplane-system", "pkg.crossplane.io/provider=gorizond-koldun-provider")},
		{name: "function killed", happens: w.pods.kills("crossplane-system", "pkg.crossplane.io/function=gorizond-koldun-function")},
		{name: "Crossplane killed", happens: w.pods.kills("crossplane-system", "app=crossplane")},
		{name: "RBAC manager of Crossplane killed", happens: w.pods.kills("crossplane-system", "app=crossplane-rbac-manager")},
		{name: "object store killed", happens: func(t *testing.T) { t.Helper(); w.pods.crashes(t, "s3", "s3-0") }},
		{name: "leader of NATS killed", happens: func(t *testing.T) { t.Helper(); w.pods.crashes(t, "nats", w.nats.leader(t)) }},
		{name: "another server of NATS killed", happens: func(t *testing.T) { t.Helper(); w.pods.crashes(t, "nats", w.nats.follower(t)) }},
		{name: "node drained", happens: w.faults.drains, fails: []string{string(history.Broken), "interrupted"}},
	})
}

// TestRingFaults ends each node of a ring of distributed-llama without grace. No other engine
// answers meanwhile, so that requests wait until the ring is whole again.
func TestRingFaults(t *testing.T) {
	w := koldun(t)
	tell("Faults of a ring: each of its nodes ends without grace while clients ask.")
	raw, err := os.ReadFile("testdata/steady.yaml")
	if err != nil {
		t.Fatal(err)
	}
	spec := "spec:\n  replicaPower: 2\n"
	if w.node == nil {
		image := w.registry + "/" + path(distributedllama.Image)
		spec += fmt.Sprintf("  rootImage: %s\n  workerImage: %s\n", image, image)
	}
	claim := filepath.Join(t.TempDir(), "ring.yaml")
	if err := os.WriteFile(claim, []byte(strings.Replace(string(raw), "spec:\n", spec, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	pods := steady()
	pods["worker"] = 3
	w.faults.disturbs(t, claim, pods, []fault{
		{name: "workers killed", happens: w.pods.kills("default", "koldun.gorizond.io/component=worker"), fails: []string{"interrupted"}},
		{name: "root killed", happens: w.pods.kills("default", "koldun.gorizond.io/component=root"), fails: []string{"interrupted"}},
	})
}

// disturbs applies a claim with the model of history and so many pods by their components, lets
// clients ask it while faults happen, and checks what became of their requests.
func (fa *faults) disturbs(t *testing.T, claim string, pods map[string]int, faults []fault) {
	t.Helper()
	fa.Kubectl(t, "apply", "-f", claim)
	fa.claims.ready(t, history.Namespace, history.ModelName)
	c := startClients(t, fa.services.gateway(t, history.Namespace, history.ModelName+"-gateway"))
	c.more(t, sides*5)
	fa.usage.tellOf(t, history.Namespace, history.ModelName, sum(pods))
	tell("%d clients ask steadily: %s", sides, c.since())
	var whole tally
	for _, f := range faults {
		began := time.Now()
		s := c.during(t, slices.Contains(f.fails, string(history.Broken)), func() { f.happens(t); fa.settled(t, pods) })
		tell("%s: %s; ready again after %s", f.name, s, time.Since(began).Round(time.Second))
		for kind := range s.failed {
			if !slices.Contains(f.fails, kind) {
				t.Errorf("%s: requests ended as %s; listing models ended last with %v", f.name, kind, c.refusal())
			}
		}
		whole.answers, whole.gap, whole.slowest = whole.answers+s.answers, max(whole.gap, s.gap), max(whole.slowest, s.slowest)
		whole.failed = map[string]int{"retries": whole.retries() + s.retries()}
	}
	tell("All requests have ended: %s", whole)
	c.verify(t, fa.nats)
	fa.claims.deleted(t, claim)
}

func sum(numbers map[string]int) (n int) {
	for _, one := range numbers {
		n += one
	}
	return n
}

// kills deletes pods without grace, which must not write to volumes: see Node.Crash. Of
// several, each goes when the one before is replaced.
func (p *pods) kills(namespace, selector string) func(t *testing.T) {
	return func(t *testing.T) {
		t.Helper()
		pods := strings.Fields(p.Kubectl(t, "get", "pods", "--namespace", namespace, "--selector", selector, "--output=name"))
		if len(pods) == 0 {
			t.Fatalf("no pod of %s has the labels %s: %s", namespace, selector, p.Kubectl(t, "get", "pods", "--namespace", namespace, "--show-labels"))
		}
		for _, pod := range pods {
			p.Kubectl(t, "delete", "--namespace", namespace, pod, "--grace-period=0", "--force")
			p.ready(t, namespace, selector, len(pods))
		}
	}
}

// ready waits until so many pods are ready.
func (p *pods) ready(t *testing.T, namespace, selector string, n int) {
	t.Helper()
	cluster.Eventually(t, "pods to be ready", func(ctx context.Context) error {
		out, err := p.RunKubectl(ctx, "get", "pods", "--namespace", namespace, "--selector", selector,
			`--output=jsonpath={range .items[*]}{.metadata.name}={.status.conditions[?(@.type=="Ready")].status} {end}`)
		if err == nil && strings.Count(out, "=True") < n {
			err = fmt.Errorf("%d pods are wanted of %q", n, out)
		}
		return err
	})
}

// steady returns the numbers of the pods of testdata/steady.yaml by their components.
func steady() map[string]int { return map[string]int{"gateway": 2, "dispatcher": 2, "root": 1} }

// settled waits until all that faults touch is ready.
func (fa *faults) settled(t *testing.T, pods map[string]int) {
	t.Helper()
	for component, n := range pods {
		fa.pods.ready(t, "default", "koldun.gorizond.io/component="+component, n)
	}
	fa.pods.ready(t, "nats", "app.kubernetes.io/name=nats", 3)
	fa.claims.ready(t, history.Namespace, history.ModelName)
}

// leader waits until a server of NATS leads the stream of requests, and returns its pod.
func (m *messaging) leader(t *testing.T) (pod string) {
	t.Helper()
	cluster.Eventually(t, "a leader of the stream of requests", func(ctx context.Context) (err error) {
		pod, err = m.leads(ctx)
		return err
	})
	return pod
}

// follower returns the pod of a server of NATS that does not lead the stream of requests.
func (m *messaging) follower(t *testing.T) string {
	t.Helper()
	if m.leader(t) == "nats-1" {
		return "nats-2"
	}
	return "nats-1"
}

// leads returns the pod of the server of NATS that leads the stream of requests.
func (m *messaging) leads(ctx context.Context) (string, error) {
	raw, err := m.RunKubectl(ctx, "get", "--raw", "/api/v1/namespaces/nats/pods/nats-0:8222/proxy/jsz?accounts=true&streams=true")
	if err != nil {
		return "", err
	}
	var state struct {
		Accounts []struct {
			Streams []struct {
				Name    string
				Cluster struct{ Leader string }
			} `json:"stream_detail"`
		} `json:"account_details"`
	}
	if err := json.Unmarshal([]byte(raw), &state); err != nil {
		return "", err
	}
	for _, a := range state.Accounts {
		for _, s := range a.Streams {
			if strings.HasPrefix(s.Name, "KOLDUN_REQUESTS") && s.Cluster.Leader != "" {
				return s.Cluster.Leader, nil
			}
		}
	}
	return "", fmt.Errorf("no server of NATS leads the stream of requests: %s", raw)
}

// crashes ends the processes of a pod that writes to a volume, and waits until it is ready
// again. A current cluster gives them a second.
func (p *pods) crashes(t *testing.T, namespace, pod string) {
	t.Helper()
	state := func(ctx context.Context) (uid string, ready bool, err error) {
		out, err := p.RunKubectl(ctx, "get", "pod", pod, "--namespace", namespace,
			`--output=jsonpath={.metadata.uid}/{.status.containerStatuses[0].restartCount} {.status.conditions[?(@.type=="Ready")].status}`)
		uid, status, _ := strings.Cut(out, " ")
		return uid, status == "True", err
	}
	before, _, err := state(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p.node == nil {
		p.Kubectl(t, "delete", "pod", pod, "--namespace", namespace, "--grace-period=1")
	} else if err := p.node.Crash(t.Context(), namespace, pod); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "pod "+pod+" to run again", func(ctx context.Context) error {
		now, ready, err := state(ctx)
		if err == nil && (now == before || !ready) {
			err = fmt.Errorf("its restarts are %s, before %s, ready %t", now, before, ready)
		}
		return err
	})
}

// drains evicts the pods of the claim and the servers of NATS from the node of the claim's root.
// As the cluster may have no other node, it takes pods again once it has been cordoned. A budget
// lets one server of NATS go when the others are ready.
func (fa *faults) drains(t *testing.T) {
	t.Helper()
	node := fa.Kubectl(t, "get", "pods", "--namespace", history.Namespace, "--selector", "koldun.gorizond.io/component=root",
		"--output=jsonpath={.items[0].spec.nodeName}")
	drained := make(chan error, 1)
	go func() {
		_, err := fa.RunKubectl(t.Context(), "drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force",
			"--pod-selector=app.kubernetes.io/name in (koldun, nats)", "--timeout="+waittest.Limit(4*time.Minute).String())
		drained <- err
	}()
	cluster.Eventually(t, "the node to be cordoned", func(ctx context.Context) error {
		out, err := fa.RunKubectl(ctx, "get", "node", node, "--output=jsonpath={.spec.unschedulable}")
		if err == nil && out != "true" {
			err = fmt.Errorf("it takes pods")
		}
		return err
	})
	fa.Kubectl(t, "uncordon", node)
	if err := <-drained; err != nil {
		t.Fatal(err)
	}
}

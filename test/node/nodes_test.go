package node_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorizond/koldun/test/cluster"
)

// TestNumberOfNodes tests a Dllama of distributed-llama on four nodes, then two, then one, by
// changes of replicaPower, beside a Dllama of the embedded engine. Both answer by their names
// each time.
func TestNumberOfNodes(t *testing.T) {
	w := koldun(t)
	t.Parallel()
	tell("Nodes: a ring of four nodes becomes one of two, and then one, beside another model.")
	const ns, claims = "nodes", "testdata/nodes.yaml"
	w.pods.restricted(t, ns)
	w.Kubectl(t, "apply", "-f", claims)
	w.claims.ready(t, ns, "ring")
	w.claims.ready(t, ns, "embedded")
	api := asks(w.services.url(t, ns, "ring-gateway"), "")
	mustList(t, api, "nodes/embedded", "nodes/ring")
	for power := 2; power >= 0; power-- {
		began := time.Now()
		w.Kubectl(t, "patch", "dllama/ring", "--namespace", ns, "--type=merge", fmt.Sprintf(`--patch={"spec":{"replicaPower":%d}}`, power))
		w.pods.runsOn(t, ns, "ring", 1<<power)
		for _, name := range []string{"ring", "embedded"} {
			if member := askMember(t, api, ns+"/"+name); member != name {
				t.Errorf("Dllama %q answers to the name of %q", member, name)
			}
		}
		answered := time.Since(began)
		w.claims.reports(t, ns, "ring", 1<<power)
		tell("Nodes: replicaPower %d, so %d of distributed-llama: nodes/ring answers after %s, and nodes/embedded beside it; the status tells so after %s",
			power, 1<<power, answered.Round(time.Second), time.Since(began).Round(time.Second))
	}
	w.Kubectl(t, "delete", "-f", claims, "--wait=false")
	w.leftovers.none(t, ns)
}

// runsOn waits until so many pods of distributed-llama run for a Dllama, and no other.
func (p *pods) runsOn(t *testing.T, ns, name string, nodes int) {
	t.Helper()
	cluster.Eventually(t, fmt.Sprintf("%d nodes", nodes), func(ctx context.Context) error {
		out, err := p.RunKubectl(ctx, "get", "pods", "--namespace", ns, "--selector=koldun.gorizond.io/dllama="+name+",koldun.gorizond.io/component in (root,worker)",
			`--output=jsonpath={range .items[*]}{.metadata.name}={.spec.containers[*].image}={.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}`)
		if err != nil {
			return err
		}
		ready, pods := 0, strings.Split(strings.TrimSpace(out), "\n")
		for _, pod := range pods {
			if strings.Contains(pod, "distributed-llama") && strings.HasSuffix(pod, "=True") {
				ready++
			}
		}
		if ready != nodes || len(pods) != nodes {
			return fmt.Errorf("of %d pods %d are ready: %s", len(pods), ready, out)
		}
		return nil
	})
}

// reports waits until the status of a Dllama tells so many nodes, all of them ready. After
// several changes within a minute, Crossplane takes up to half a minute to look.
func (cl *claims) reports(t *testing.T, ns, name string, nodes int) {
	t.Helper()
	want := fmt.Sprintf("%d nodes, %d workers, root true", nodes, nodes-1)
	cluster.Eventually(t, "the status", func(ctx context.Context) error {
		status, err := cl.RunKubectl(ctx, "get", "dllama", name, "--namespace", ns,
			"--output=jsonpath={.status.nodes} nodes, {.status.readyWorkers} workers, root {.status.readyRoot}")
		if err == nil && status != want {
			err = fmt.Errorf("it says %s, want %s", status, want)
		}
		return err
	})
	cl.ready(t, ns, name)
}

package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/node/kubernetes"
)

// TestNetworkPolicies tests in a namespace of restricted pods what pods of a claim reach, and
// what reaches them. Each refusal is that of a policy: a pod that none selects gets through.
func TestNetworkPolicies(t *testing.T) {
	w := koldun(t)
	const ns, name = "policies", "koldun-tiny"
	tell("Network policies: what pods of a claim reach, and what reaches them.")
	w.pods.restricted(t, ns)
	raw, err := os.ReadFile(filepath.Join(repository, "examples", "quickstart", "dllama.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	claim := strings.ReplaceAll(string(raw), "namespace: default", "namespace: "+ns)
	tell("kubectl apply -f examples/quickstart/dllama.yaml, in a namespace of restricted pods")
	if err := w.Apply(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	w.claims.ready(t, ns, name)
	w.services.mustAnswer(t, ns, name+"-gateway", ns+"/"+name, "")
	w.output.lines(t, "get", "networkpolicies", "--namespace", ns)
	w.network.outward(t, ns, name)
	w.network.inward(t, ns, name)
	w.leftovers.gone(t, ns, claim)
}

// outward tests what gateways and engines reach.
func (n *network) outward(t *testing.T, ns, name string) {
	t.Helper()
	nats := []string{"nats.nats.svc:4222"}
	others := []string{"hub.hub.svc:8080", "kubernetes.default.svc:443"}
	if n.node != nil {
		others = append(others, kubernetes.Registry) // outside of the pods
	}
	n.reaches(t, ns, "gateway", n.guardedBy(t, ns, name+"-ingress-pods"), nats, others)
	n.reaches(t, ns, "engine", n.guardedBy(t, ns, name+"-root"), nats, others)
	n.reaches(t, ns, "stranger", nil, append(nats, others...), nil)
}

// inward tests by what ports others reach gateways and engines: those of the claim, and
// listeners that a policy of the claim selects or not.
func (n *network) inward(t *testing.T, ns, name string) {
	t.Helper()
	gateway, engine := n.guardedBy(t, ns, name+"-ingress-pods"), n.guardedBy(t, ns, name+"-root")
	guardedGateway := n.listener(t, ns, "listening-gateway", gateway, 8082, 8080)
	guardedEngine := n.listener(t, ns, "listening-engine", engine, 8081, 9990)
	free := n.listener(t, ns, "listening-stranger", nil, 8080, 9990)
	open := []string{name + "-gateway." + ns + ".svc:8082", guardedGateway + ":8082", guardedEngine + ":8081", free + ":8080", free + ":9990"}
	n.pods.restricted(t, ns+"-foreign")
	n.reaches(t, ns+"-foreign", "foreigner", nil, open, []string{guardedGateway + ":8080", guardedEngine + ":9990"})
}

// gone deletes a claim of a namespace, and waits until nothing of Koldun is left in it.
func (l *leftovers) gone(t *testing.T, ns, claim string) {
	t.Helper()
	if err := l.Delete(t.Context(), ns, claim); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "nothing to be left", func(ctx context.Context) error {
		left, err := l.RunKubectl(ctx, "get", "koldun", "--namespace", ns, "--output=name")
		if err != nil {
			return err
		}
		for _, object := range strings.Fields(left) {
			if !strings.HasPrefix(object, "clusterproviderconfig.") {
				return fmt.Errorf("%s is left", object)
			}
		}
		return nil
	})
}

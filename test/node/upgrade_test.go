package node_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/history"
)

// TestUpgrade upgrades Koldun by its chart, as docs/guides/upgrade.md says, while clients ask.
// Packages, gateways, dispatchers, the engine and the object store, which is in Koldun's image,
// are replaced, and the servers of NATS stay. Every request is answered.
func TestUpgrade(t *testing.T) {
	w := koldun(t)
	tell("An upgrade: clients ask while Koldun is upgraded by its chart, and each request is answered.")
	tell("Pushing the images of %s ...", newer)
	if err := w.images.pushKoldun(t.Context(), newer); err != nil {
		t.Fatal(err)
	}
	const claim = "testdata/steady.yaml"
	w.Kubectl(t, "apply", "-f", claim)
	w.claims.ready(t, history.Namespace, history.ModelName)
	w.pods.runs(t, version)
	servers := w.pods.servers(t)
	c := startClients(t, w.services.gateway(t, history.Namespace, history.ModelName+"-gateway"))
	c.more(t, sides*5)
	tell("%d clients ask steadily, of version %s: %s", sides, version, c.since())

	began := time.Now()
	took := func() time.Duration { return time.Since(began).Round(time.Second) }
	s := c.during(t, false, func() {
		tell("helm upgrade koldun, to version %s ...", newer)
		if err := w.installer.helm(t, newer, "upgrade", "--reset-then-reuse-values"); err != nil {
			t.Fatal(err)
		}
		w.installer.healthy(t, newer)
		tell("the packages are healthy after %s", took())
		w.pods.runs(t, newer)
		w.claims.ready(t, history.Namespace, history.ModelName)
		tell("all pods of the claim run %s after %s", newer, took())
	})
	tell("%s", s)
	c.verify(t, w.nats)
	if n := s.retries(); n > 0 {
		t.Errorf("%d requests were not answered: %s; last %v", n, s, c.refusal())
	}
	if diff := cmp.Diff(servers, w.pods.servers(t)); diff != "" {
		t.Errorf("the upgrade has replaced servers:\n%s", diff)
	}
	w.claims.deleted(t, claim)
}

// runs waits until the pods of the claim of history, and no others, run a version of Koldun
// and are ready.
func (p *pods) runs(t *testing.T, version string) {
	t.Helper()
	for component, n := range steady() {
		cluster.Eventually(t, component+" to run "+version, func(ctx context.Context) error {
			out, err := p.RunKubectl(ctx, "get", "pods", "--namespace", history.Namespace, "--selector", "koldun.gorizond.io/component="+component,
				`--output=jsonpath={range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status} {.spec.containers[*].image}{"\n"}{end}`)
			if err != nil {
				return err
			}
			pods := strings.Split(strings.TrimSpace(out), "\n")
			for _, pod := range pods {
				if len(pods) != n || !strings.Contains(pod, " True ") || !strings.Contains(pod, "/koldun:"+version+"@sha256:") {
					return fmt.Errorf("%d pods are wanted of:\n%s", n, out)
				}
			}
			return nil
		})
	}
}

// servers returns the names and UIDs of the pods of NATS.
func (p *pods) servers(t *testing.T) string {
	t.Helper()
	return p.Kubectl(t, "get", "pods", "--namespace=nats", "--selector=app.kubernetes.io/name=nats", "--output=jsonpath={range .items[*]}{.metadata.name}={.metadata.uid} {end}")
}

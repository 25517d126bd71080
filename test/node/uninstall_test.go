package node_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/test/cluster"
)

// TestUninstall uninstalls Koldun while a claim serves, and installs it again, as the chart's
// README says: what serves goes on, a change of the claim takes effect when Crossplane is
// back, and nothing is replaced or downloaded a second time.
func TestUninstall(t *testing.T) {
	w := koldun(t)
	tell("Uninstall: the chart is uninstalled while a claim serves, and installed again.")
	const claim, name, port = repository + "/examples/quickstart/dllama.yaml", "koldun-tiny", "8083"
	w.Kubectl(t, "apply", "-f", claim)
	w.claims.ready(t, "default", name)
	w.services.mustAnswer(t, "default", name+"-gateway", "default/"+name, "")
	before := w.leftovers.kept(t)

	began := time.Now()
	took := func() time.Duration { return time.Since(began).Round(time.Second) }
	if err := w.installer.helm(t, version, "uninstall"); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "Crossplane to be gone", func(ctx context.Context) error {
		pods, err := w.RunKubectl(ctx, "get", "pods", "--namespace=crossplane-system", "--selector=app in (crossplane,crossplane-rbac-manager)", "--output=name")
		if err == nil && pods != "" {
			err = fmt.Errorf("there is %s", pods)
		}
		return err
	})
	tell("helm uninstall koldun: Crossplane is gone after %s", took())
	w.Kubectl(t, "patch", "dllama/"+name, "--type=merge", `--patch={"spec":{"expose":{"service":{"port":`+port+`}}}}`)
	w.services.mustAnswer(t, "default", name+"-gateway", "default/"+name, "")
	if diff := cmp.Diff(before, w.leftovers.kept(t)); diff != "" {
		t.Fatalf("helm uninstall has replaced objects:\n%s", diff)
	}
	tell("%d objects stay", len(before))

	began = time.Now()
	if err := w.installer.helm(t, version, "install", append(w.installer.helmValues(), "--take-ownership")...); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the change of the claim to take effect", func(ctx context.Context) error {
		out, err := w.RunKubectl(ctx, "get", "service/"+name+"-gateway", "--output=jsonpath={.spec.ports[0].port}")
		if err == nil && out != port {
			err = fmt.Errorf("the port is %s, want %s", out, port)
		}
		return err
	})
	tell("helm install koldun: the change of the claim takes effect after %s", took())
	w.installer.healthy(t, version)
	w.claims.ready(t, "default", name)
	w.services.mustAnswer(t, "default", name+"-gateway", "default/"+name, "")
	if diff := cmp.Diff(before, w.leftovers.kept(t)); diff != "" {
		t.Errorf("helm install after helm uninstall has replaced objects:\n%s", diff)
	}
	w.claims.deleted(t, claim)
}

// kept returns the UIDs of what stays when Koldun is uninstalled: packages, their rights and
// rules, claims and what belongs to them, the servers, their volumes and keys. A download is
// a Job of the namespace default.
func (l *leftovers) kept(t *testing.T) map[string]string {
	t.Helper()
	objects := map[string]string{}
	for _, args := range []string{
		"configurations.pkg.crossplane.io,functions.pkg.crossplane.io,providers.pkg.crossplane.io,deploymentruntimeconfigs.pkg.crossplane.io",
		"environmentconfigs.apiextensions.crossplane.io,clusterroles,clusterrolebindings --selector=app.kubernetes.io/name=koldun",
		"koldun,persistentvolumeclaims --all-namespaces",
		"jobs,pods,secrets,services --namespace=default",
		"statefulsets,pods,services --namespace=nats --selector=app.kubernetes.io/name=nats",
		"statefulsets,pods,services --namespace=s3 --selector=app.kubernetes.io/name=s3",
		"secrets --namespace=nats", "secrets --namespace=s3",
	} {
		maps.Copy(objects, l.uids(t, strings.Fields(args)...))
	}
	return objects
}

// uids returns the UIDs of what kubectl gets. What is being deleted has another one.
func (l *leftovers) uids(t *testing.T, args ...string) map[string]string {
	t.Helper()
	const line = `--output=jsonpath={range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}={.metadata.uid} {.metadata.deletionTimestamp}{"\n"}{end}`
	uids := map[string]string{}
	for object := range strings.Lines(l.Kubectl(t, append([]string{"get", line}, args...)...)) {
		id, uid, _ := strings.Cut(strings.TrimSpace(object), "=")
		if id != "" {
			uids[id] = uid
		}
	}
	return uids
}

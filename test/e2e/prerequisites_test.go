package e2e_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/internal/names"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/platform"
)

// withoutProvider applies install.yaml without the Provider, which it returns.
func (i *installer) withoutProvider(t *testing.T) (provider string) {
	t.Helper()
	files, err := platform.Packages(t.Context(), repository, t.TempDir(), i.configuration)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.ServePackages(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	var manifests []string
	for object := range strings.SplitSeq(read(t, filepath.Join(repository, "package/install.yaml")), "\n---\n") {
		if strings.Contains(object, "\nkind: Provider\n") {
			provider = object
			continue
		}
		manifests = append(manifests, object)
	}
	if err := i.Apply(t.Context(), manifests...); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the Function to be installed", i.holds("", "pkg.crossplane.io/v1", "Function", functionName, "Installed"))
	i.serveFunction(t)
	for _, plural := range []string{"workers", "ingresses"} {
		cluster.Eventually(t, plural, i.holds("", "apiextensions.crossplane.io/v2", "CompositeResourceDefinition", plural+".koldun.gorizond.io", "Established"))
	}
	return provider
}

// blocking are the conditions that name what nobody can be served without.
func blocking() []string { return []string{"Serving", "Prerequisites"} }

// missing waits until conditions of an object say what the cluster lacks.
func (ob *objects) missing(t *testing.T, conditions []string, ns, kind, name string, says ...string) {
	t.Helper()
	began := time.Now()
	cluster.Eventually(t, "the conditions of "+name+" to say what is missing", func(ctx context.Context) error {
		obj, err := ob.get(ctx, ns, api, kind, name)
		if err != nil {
			return err
		}
		for _, condition := range conditions {
			c := conditionOf(obj, condition)
			if c["reason"] != "PrerequisiteMissing" || c["status"] != "False" {
				return fmt.Errorf("condition %s is %v, and Synced %v", condition, c, conditionOf(obj, "Synced"))
			}
			for _, text := range says {
				if !strings.Contains(fmt.Sprint(c["message"]), text) {
					return fmt.Errorf("condition %s says %q, want it to say %q", condition, c["message"], text)
				}
			}
		}
		if synced := conditionOf(obj, "Synced"); synced["status"] != "True" {
			return fmt.Errorf("the composite is not synced: %v", synced)
		}
		t.Logf("after %s: %s", time.Since(began).Round(100*time.Millisecond), conditionOf(obj, "Prerequisites")["message"])
		return nil
	})
}

// mended waits until nothing is missing for an object, and the object of a kind exists
// that could not be composed.
func (ob *objects) mended(t *testing.T, ns, kind, name, apiVersion, composed, object string) {
	t.Helper()
	began := time.Now()
	cluster.Eventually(t, "nothing to be missing for "+name, ob.holds(ns, api, kind, name, "Prerequisites"))
	cluster.Eventually(t, composed+" "+object, func(ctx context.Context) error {
		_, err := ob.get(ctx, ns, apiVersion, composed, object)
		return err
	})
	t.Logf("after %s: %s %q is composed", time.Since(began).Round(100*time.Millisecond), composed, object)
}

// TestPrerequisites tests that a claim says what the cluster around it lacks, with the
// command that mends it, that it is composed as soon as that is there, and that what was
// composed before stays. At last the provider does not run.
func TestPrerequisites(t *testing.T) {
	t.Parallel()
	p := newSuite(cluster.Start(t, cluster.Options{}), flavours()["Namespaced"], build(t))
	provider := p.installer.withoutProvider(t)
	ns := p.Namespace(t)
	apply := func(manifest string) {
		t.Helper()
		if err := p.ApplyIn(t.Context(), ns, manifest); err != nil {
			t.Fatal(err)
		}
	}
	const worker = "apiVersion: koldun.gorizond.io/v1\nkind: Worker\nmetadata: {name: %s}\nspec: {image: '" + image + "'}"
	apply(fmt.Sprintf(worker, "early"))
	p.missing(t, blocking(), ns, "Worker", "early", "koldun-provider is not installed", "kubectl apply --server-side -f package/install.yaml")

	if err := p.Apply(t.Context(), provider); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.installer.providerIdentity, err = p.ConnectProvider(t.Context(), providerName); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the Provider to be healthy", p.holds("", "pkg.crossplane.io/v1", "Provider", providerName, "Healthy"))
	p.processes.start(t)
	p.mended(t, ns, "Worker", "early", "koldun.m.gorizond.io/v1alpha1", "WorkloadStatus", names.Object("early", "worker", "pods"))

	rights := p.withdraw(t, "statefulsets")
	cluster.Eventually(t, "the provider to see that a right is missing", p.prerequisites("StatefulSet.apps"))
	apply(fmt.Sprintf(worker, "late"))
	p.missing(t, blocking(), ns, "Worker", "late", `StatefulSet "late`, "rights on statefulsets.apps", "kubectl apply --server-side -f package/rbac.yaml")
	if _, err := p.get(t.Context(), ns, "apps/v1", "StatefulSet", names.Object("early", "worker")); err != nil {
		t.Errorf("what was composed is gone: %v", err)
	}
	if err := p.Client().Update(t.Context(), rights); err != nil {
		t.Fatal(err)
	}
	p.mended(t, ns, "Worker", "late", "apps/v1", "StatefulSet", names.Object("late", "worker"))

	if err := p.Apply(t.Context(), read(t, repository+"/package/single-team.yaml")); err != nil { // allows the host
		t.Fatal(err)
	}
	apply("apiVersion: koldun.gorizond.io/v1\nkind: Ingress\nmetadata: {name: gate}\nspec: {backend: {allowAnonymous: true}, route: {host: a.example, gateways: [{name: public}]}}")
	cluster.Eventually(t, "the Ingress to serve without its route", p.holds(ns, api, "Ingress", "gate", "Serving"))
	p.missing(t, []string{"Prerequisites"}, ns, "Ingress", "gate", `HTTPRoute "gate`, "the Gateway API", "kubectl apply --server-side -f https://")
	if err := p.Apply(t.Context(), httpRoutes); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "nothing to be missing", p.holds(ns, api, "Ingress", "gate", "Prerequisites"))
	cluster.Eventually(t, "the URL of the route", func(ctx context.Context) error {
		gate, err := p.get(ctx, ns, api, "Ingress", "gate")
		if err != nil {
			return err
		}
		if url, _, _ := unstructured.NestedString(gate.Object, "status", "url"); url != "http://a.example/v1" {
			return fmt.Errorf("it is %q", url)
		}
		return nil
	})

	for _, process := range p.processes.providers {
		process.Kill()
	}
	cluster.Eventually(t, "the Provider to be reported as down", func(ctx context.Context) error { return p.ReportProviderDown(ctx, providerName) })
	apply(fmt.Sprintf(worker, "alone"))
	p.missing(t, blocking(), ns, "Worker", "alone", `provider "`+providerName+`" does not run`, "deployment is unavailable", "kubectl describe providers.pkg.crossplane.io "+providerName)
	if err := p.holds(ns, api, "Ingress", "gate", "Serving")(t.Context()); err != nil {
		t.Errorf("what was served before: %v", err)
	}
}

// withdraw takes the rights on a resource from Crossplane, and returns the ClusterRole as
// it has to be written to give them back.
func (ob *objects) withdraw(t *testing.T, resource string) *rbacv1.ClusterRole {
	t.Helper()
	role := &rbacv1.ClusterRole{}
	if err := ob.Client().Get(t.Context(), client.ObjectKey{Name: "koldun:aggregate-to-crossplane"}, role); err != nil {
		t.Fatal(err)
	}
	whole := role.DeepCopy()
	role.Rules = nil
	for _, rule := range whole.Rules {
		if len(rule.Resources) != 1 || rule.Resources[0] != resource {
			role.Rules = append(role.Rules, rule)
		}
	}
	if len(role.Rules) == len(whole.Rules) {
		t.Fatalf("nothing grants %q", resource)
	}
	if err := ob.Client().Update(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	whole.ResourceVersion = role.ResourceVersion
	return whole
}

// prerequisites returns a check that the provider has found a right to be missing.
func (ob *objects) prerequisites(forbidden string) func(context.Context) error {
	return func(ctx context.Context) error {
		env, err := ob.get(ctx, "", "apiextensions.crossplane.io/v1beta1", "EnvironmentConfig", "koldun-prerequisites")
		if err != nil {
			return err
		}
		if data := fmt.Sprint(env.Object["data"]); !strings.Contains(data, forbidden) {
			return fmt.Errorf("it has found %s", data)
		}
		return nil
	}
}

// httpRoutes is the kind of the Gateway API, as far as an API server needs it.
const httpRoutes = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: httproutes.gateway.networking.k8s.io
  annotations: {api-approved.kubernetes.io: https://github.com/kubernetes-sigs/gateway-api/pull/2466}
spec:
  group: gateway.networking.k8s.io
  scope: Namespaced
  names: {kind: HTTPRoute, listKind: HTTPRouteList, plural: httproutes, singular: httproute}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

package cluster_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
	"github.com/gorizond/koldun/test/cluster"
)

// packageFunction is the name of the Function in the packages.
const packageFunction = "gorizond-koldun-function"

// packaged applies the XRD and the Composition of kinds, as the package has them, and the
// rights that install.yaml gives.
func packaged(t *testing.T, c *cluster.Cluster, plurals ...string) {
	t.Helper()
	ours := strings.Replace(strings.Split(file(t, "../../package/rbac.yaml"), "\n---")[0], "name: koldun:aggregate", "name: koldun-package:aggregate", 1)
	managed := strings.NewReplacer("name: koldun:aggregate", "name: koldun-managed:aggregate").Replace(file(t, "testdata/rights.yaml"))
	manifests := append([]string{ours, managed}, cluster.Definitions(cluster.ManagedGroup)...)
	if err := c.Apply(t.Context(), manifests...); err != nil {
		t.Fatal(err)
	}
	// An informer that starts without the right to list waits for minutes.
	for _, right := range []authorizationv1.ResourceAttributes{
		{Verb: "list", Group: cluster.ManagedGroup, Resource: "workloadstatuses"}, {Verb: "list", Group: "keda.sh", Resource: "scaledobjects"},
	} {
		cluster.Eventually(t, "the right to "+right.Verb+" "+right.Resource, func(ctx context.Context) error {
			r := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User: "system:serviceaccount:" + cluster.SystemNamespace + ":crossplane", ResourceAttributes: &right,
			}}
			if err := c.Client().Create(ctx, r); err != nil || r.Status.Allowed {
				return err
			}
			return fmt.Errorf("not yet")
		})
	}
	manifests = nil
	for _, plural := range plurals {
		manifests = append(manifests, file(t, "../../package/configuration/"+plural+"/definition.yaml"), composition(t, plural))
	}
	if err := c.Apply(t.Context(), manifests...); err != nil {
		t.Fatal(err)
	}
	for _, plural := range plurals {
		cluster.Eventually(t, plural+" to be served", holds(c, "", "apiextensions.crossplane.io/v2", "CompositeResourceDefinition", plural+".koldun.gorizond.io", "Established"))
	}
}

func composition(t *testing.T, plural string) string {
	t.Helper()
	return file(t, "../../package/configuration/"+plural+"/composition.yaml")
}

func file(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// contains returns a check that fails until an object exists and its text has a part.
func contains(c *cluster.Cluster, namespace, apiVersion, kind, name, part string) func(context.Context) error {
	return func(ctx context.Context) error {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
		if err := c.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
			return err
		}
		raw, err := o.MarshalJSON()
		if err == nil && !strings.Contains(string(raw), part) {
			return fmt.Errorf("it has no %q: %s", part, raw)
		}
		return err
	}
}

// TestChannelsServeSideBySide updates the Composition of the package to channel fast with
// a Function of its own: resources of both channels, and one that names none, are
// composed by the Function of their channel.
func TestChannelsServeSideBySide(t *testing.T) {
	c := shared.Cluster(t)
	ctx := t.Context()
	packaged(t, c, "workers")
	for function, image := range map[string]string{packageFunction: "koldun:stable", packageFunction + "-fast": "koldun:fast"} {
		if err := c.ServeFunction(ctx, function, router.New(compose.Config{Image: image, Trusted: true})); err != nil {
			t.Fatal(err)
		}
	}
	ns := c.Namespace(t)
	worker := func(name, crossplane string) string {
		return fmt.Sprintf("{apiVersion: koldun.gorizond.io/v1, kind: Worker, metadata: {name: %s}, spec: {image: dllama, crossplane: {%s}}}", name, crossplane)
	}
	channel := func(name string) string {
		return "compositionRevisionSelector: {matchLabels: {koldun.gorizond.io/channel: " + name + "}}"
	}
	apply := func(manifest string) {
		t.Helper()
		if err := c.ApplyIn(ctx, ns, manifest); err != nil {
			t.Fatal(err)
		}
	}
	composedBy := func(name, image string) {
		t.Helper()
		cluster.Eventually(t, name+" to run "+image, contains(c, ns, "apps/v1", "StatefulSet", name+"-worker", image))
	}
	apply(worker("before", ""))
	composedBy("before", "koldun:stable")

	fast := strings.NewReplacer("channel: stable", "channel: fast", packageFunction, packageFunction+"-fast").Replace(composition(t, "workers"))
	if err := c.Apply(ctx, fast); err != nil {
		t.Fatal(err)
	}
	apply(worker("fast", channel("fast")))
	apply(worker("stable", channel("stable")))
	apply(worker("unlabelled", ""))
	composedBy("fast", "koldun:fast")
	composedBy("stable", "koldun:stable")
	composedBy("unlabelled", "koldun:stable")
	composedBy("before", "koldun:stable")

	// A resource changes its channel in place.
	apply(worker("stable", channel("fast")))
	composedBy("stable", "koldun:fast")
}

// TestOtherSystemsKindsAreComposed applies the example of the vendor's operator and the
// kinds beside it on a real API server, which accepts all that is composed. Minimal CRDs
// stand for KEDA and the Prometheus operator.
func TestOtherSystemsKindsAreComposed(t *testing.T) {
	c := shared.Cluster(t)
	ctx := t.Context()
	packaged(t, c, "modelorchestras", "autonodelabelers")
	if err := c.ServeFunction(ctx, packageFunction, router.New(compose.Config{Image: "koldun:stable", Trusted: true})); err != nil {
		t.Fatal(err)
	}
	ns := c.Namespace(t)
	if err := c.Apply(ctx, anyKind("keda.sh", "v1alpha1", "ScaledObject"), anyKind("monitoring.coreos.com", "v1", "ServiceMonitor")); err != nil {
		t.Fatal(err)
	}
	if err := c.ApplyIn(ctx, ns, `
apiVersion: koldun.gorizond.io/v1
kind: ModelOrchestra
metadata: {name: my-model-orchestra}
spec:
  gateway: {exportPrometheusMetrics: true, ingress: {enabled: true, hosts: [{host: a.example}]}}
  applications:
    hello-world:
      nodeSelector: {nvidia.com/gpu.product: NVIDIA-GeForce-RTX-3060}
      readerConfig: {modelName: unsloth/Llama-3.2-1B-Instruct, device: cuda}
      scaling: {enabled: true}
    other: {scaling: {enabled: true, type: HorizontalPodAutoscaler}, modelsVolume: {claim: {size: 1Gi}}}
  imagePullSecrets: [{name: regcred}]
`); err != nil {
		t.Fatal(err)
	}
	for _, o := range []struct{ apiVersion, kind, name, part string }{
		{"apps/v1", "Deployment", "my-model-orchestra-gateway", "tytn/takeoff-pro:0.22.0-rc17-cpu"},
		{"apps/v1", "Deployment", "my-model-orchestra-hello-world", "NVIDIA-GeForce-RTX-3060"},
		{"v1", "ConfigMap", "my-model-orchestra-hello-world", "unsloth/Llama-3.2-1B-Instruct"},
		{"v1", "Service", "my-model-orchestra-gateway", `"targetPort":"openai"`},
		{"v1", "ServiceAccount", "my-model-orchestra", ""},
		{"v1", "PersistentVolumeClaim", "my-model-orchestra-other-models", "1Gi"},
		{"networking.k8s.io/v1", "Ingress", "my-model-orchestra-gateway", "a.example"},
		{"autoscaling/v2", "HorizontalPodAutoscaler", "my-model-orchestra-other", "averageUtilization"},
		{"keda.sh/v1alpha1", "ScaledObject", "my-model-orchestra-hello-world", "external-push"},
		{"monitoring.coreos.com/v1", "ServiceMonitor", "my-model-orchestra-gateway", "/metrics"},
	} {
		cluster.Eventually(t, o.kind+" "+o.name, contains(c, ns, o.apiVersion, o.kind, o.name, o.part))
	}
	if err := c.Apply(ctx, `
apiVersion: koldun.gorizond.io/v1
kind: AutoNodeLabeler
metadata: {name: gpus}
spec:
  matchExpression: {key: nvidia.com/gpu.product, operator: NotIn, values: [old]}
  labels: {example.org/gpu: "true"}
`); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the rule", contains(c, "", "koldun.m.gorizond.io/v1alpha1", "NodeLabelRule", "gpus-nodes", "NotIn"))
	// The cluster has the provider's kinds only.
	cluster.Eventually(t, "its condition", contains(c, "", "koldun.gorizond.io/v1", "AutoNodeLabeler", "gpus", "koldun-provider is not installed"))
}

// anyKind is the CRD of a namespaced kind with any fields.
func anyKind(group, version, kind string) string {
	plural := strings.ToLower(kind) + "s"
	return fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %[3]s.%[1]s, annotations: {api-approved.kubernetes.io: "unapproved, for tests"}}, spec: {
  group: %[1]s, scope: Namespaced, names: {kind: %[4]s, plural: %[3]s, singular: %[5]s},
  versions: [{name: %[2]s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}`,
		group, version, plural, kind, strings.ToLower(kind))
}

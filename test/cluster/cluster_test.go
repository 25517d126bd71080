package cluster_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/simulate"
)

// shared starts with the first test that needs it. Its provider answers at once, unlike
// a real one: these tests check the cluster and what is composed, not how often.
var shared = cluster.Shared{Options: cluster.Options{CrossplaneArgs: []string{"--circuit-breaker-burst=1000"}}}

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

const ingress = `
apiVersion: koldun.gorizond.io/v1
kind: Ingress
metadata:
  name: front
spec: {}
`

func TestCompositeBecomesObjects(t *testing.T) {
	c := shared.Cluster(t)
	ctx := t.Context()
	install(t, c, "Ingress")
	if err := c.ServeFunction(ctx, functionName, router.New(compose.Config{Image: "koldun:test", Trusted: true})); err != nil {
		t.Fatal(err)
	}
	simulate.Start(t, c.Config(), simulate.Kubelet{}, simulate.Provider{Group: "koldun.m.gorizond.io", Observe: connected})
	ns, doomed := c.Namespace(t), c.Namespace(t)
	for _, namespace := range []string{ns, doomed} {
		if err := c.ApplyIn(ctx, namespace, ingress); err != nil {
			t.Fatal(err)
		}
	}
	for _, namespace := range []string{ns, doomed} {
		cluster.Eventually(t, "the Ingress to be ready", ready(c, namespace, "koldun.gorizond.io/v1", "Ingress", "front"))
	}

	var deployments appsv1.DeploymentList
	if err := c.Client().List(ctx, &deployments, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	if got := len(deployments.Items); got != 2 {
		t.Errorf("%d Deployments composed, want gateway and dispatcher", got)
	}
	// Crossplane also reconciles without events, so the Ingress can be ready before
	// the watches of its objects have started.
	for _, name := range []string{cluster.BreakerEvents, cluster.FunctionCalls} {
		cluster.Eventually(t, "metric "+name+" to count", func(ctx context.Context) error {
			v, err := c.CrossplaneMetric(ctx, name)
			if err == nil && v < 1 {
				return fmt.Errorf("it is %v", v)
			}
			return err
		})
	}
	if v, err := c.CrossplaneMetric(ctx, cluster.BreakerOpens); err != nil || v > 0 {
		t.Errorf("metric %s is %v, %v", cluster.BreakerOpens, v, err)
	}

	// A restarted garbage collector discovers the new kinds.
	if err := c.Controllers().Restart(); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, ns, ingress); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "all objects of the Ingress to be gone", func(ctx context.Context) error {
		return empty(ctx, c, ns)
	})

	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: doomed}}
	if err := c.Client().Delete(ctx, namespace); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "the namespace of an Ingress to be gone", func(ctx context.Context) error {
		err := c.Client().Get(ctx, client.ObjectKeyFromObject(namespace), namespace)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("its conditions are %v, %w", namespace.Status.Conditions, err)
	})
}

// connected is the observation of an external resource with connection details.
func connected(*unstructured.Unstructured) simulate.Observation {
	return simulate.Observation{Connection: map[string]string{"NATS_URL": "nats://nats:4222"}}
}

// ready returns a check that fails until the object is ready.
func ready(c *cluster.Cluster, namespace, apiVersion, kind, name string) func(context.Context) error {
	return holds(c, namespace, apiVersion, kind, name, "Ready")
}

// holds returns a check that fails with the object's conditions while the given one is
// not true.
func holds(c *cluster.Cluster, namespace, apiVersion, kind, name, condition string) func(context.Context) error {
	return func(ctx context.Context) error {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
		if err := c.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, v := range conditions {
			if m, ok := v.(map[string]any); ok && m["type"] == condition && m["status"] == "True" {
				return nil
			}
		}
		return fmt.Errorf("%s is not true of %s %q: %v", condition, kind, name, conditions)
	}
}

// empty returns a check that fails while objects of an Ingress remain in the namespace.
func empty(ctx context.Context, c *cluster.Cluster, namespace string) error {
	for _, gvk := range []schema.GroupVersionKind{
		{Group: "koldun.gorizond.io", Version: "v1", Kind: "Ingress"},
		{Group: "koldun.m.gorizond.io", Version: "v1alpha1", Kind: "Queue"},
		appsv1.SchemeGroupVersion.WithKind("Deployment"),
		corev1.SchemeGroupVersion.WithKind("Service"),
		corev1.SchemeGroupVersion.WithKind("Secret"),
		corev1.SchemeGroupVersion.WithKind("Pod"),
	} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		if err := c.Client().List(ctx, list, client.InNamespace(namespace)); err != nil {
			return err
		}
		if n := len(list.Items); n > 0 {
			return fmt.Errorf("%d objects of kind %s remain, such as %q", n, gvk.Kind, list.Items[0].GetName())
		}
	}
	return nil
}

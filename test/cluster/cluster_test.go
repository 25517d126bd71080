package cluster_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
	"github.com/gorizond/koldun/test/cluster"
	"github.com/gorizond/koldun/test/cluster/simulate"
)

// shared is started by the first test that needs it.
var shared cluster.Shared

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
	if err := c.ServeFunction(ctx, functionName, router.New(compose.Config{Image: "koldun:test"})); err != nil {
		t.Fatal(err)
	}
	simulate.Start(t, c.Config(), simulate.Kubelet{}, simulate.Provider{Group: "koldun.m.gorizond.io", Observe: func(*unstructured.Unstructured) simulate.Observation {
		return simulate.Observation{Connection: map[string]string{"NATS_URL": "nats://nats:4222"}}
	}})
	ns := c.Namespace(t)
	if err := c.ApplyIn(ctx, ns, ingress); err != nil {
		t.Fatal(err)
	}

	cluster.Eventually(t, "the Ingress to be ready", func(ctx context.Context) error {
		return condition(ctx, c, ns, "Ingress", "front", "Ready")
	})
	var deployments appsv1.DeploymentList
	if err := c.Client().List(ctx, &deployments, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	if got := len(deployments.Items); got != 2 {
		t.Errorf("%d Deployments composed, want gateway and dispatcher", got)
	}

	if err := c.Delete(ctx, ns, ingress); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, "all objects of the Ingress to be gone", func(ctx context.Context) error {
		return empty(ctx, c, ns)
	})
}

func condition(ctx context.Context, c *cluster.Cluster, namespace, kind, name, condition string) error {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: "koldun.gorizond.io", Version: "v1", Kind: kind})
	if err := c.Client().Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, v := range conditions {
		if m, ok := v.(map[string]any); ok && m["type"] == condition && m["status"] == "True" {
			return nil
		}
	}
	return fmt.Errorf("its conditions are %v", conditions)
}

// empty reports what of an Ingress is left in the namespace.
func empty(ctx context.Context, c *cluster.Cluster, namespace string) error {
	for _, gvk := range []schema.GroupVersionKind{
		{Group: "koldun.gorizond.io", Version: "v1", Kind: "Ingress"},
		{Group: "koldun.m.gorizond.io", Version: "v1alpha1", Kind: "KeyValue"},
		{Group: "koldun.m.gorizond.io", Version: "v1alpha1", Kind: "Stream"},
		{Group: "apps", Version: "v1", Kind: "Deployment"},
		corev1.SchemeGroupVersion.WithKind("Service"),
		corev1.SchemeGroupVersion.WithKind("Pod"),
	} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		if err := c.Client().List(ctx, list, client.InNamespace(namespace)); err != nil {
			return err
		}
		for _, o := range list.Items {
			return fmt.Errorf("there are %d of kind %s, among them %q", len(list.Items), gvk.Kind, o.GetName())
		}
	}
	return nil
}

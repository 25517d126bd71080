package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ConnectProvider reports the runtime of an installed Provider, as the runtime
// "External" requires, so that Crossplane installs its CRDs and the RBAC manager
// grants its service account the rights of a provider. It returns the path of a
// kubeconfig of that service account, for the provider's process.
func (c *Cluster) ConnectProvider(ctx context.Context, name string) (kubeconfig string, err error) {
	revision, err := c.reportRuntime(ctx, "Provider", name, func(*unstructured.Unstructured) error { return nil })
	if err != nil {
		return "", err
	}
	as, err := c.runtimeAccount(ctx, name, revision)
	if err != nil {
		return "", fmt.Errorf("cannot find service account of Provider %q: %w", name, err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: SystemNamespace, Name: as}}
	if err := c.client.Create(ctx, account); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("cannot create service account of Provider %q: %w", name, err)
	}
	// The RBAC manager reads the service account from the Deployment that the
	// revision owns.
	deployment := emptyDeployment(revision.GetName(), account.Name)
	deployment.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(revision, revision.GroupVersionKind())}
	if err := c.client.Create(ctx, deployment); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("cannot create Deployment of Provider %q: %w", name, err)
	}
	return c.crossplane.serviceAccountKubeconfig(ctx, account.Name)
}

// runtimeAccount returns the name of the service account of a Provider's revision: its own,
// or that of the runtime configuration that a matching ImageConfig or the Provider names.
// With the runtime "External" revisions do not get the name from the Provider.
func (ob *objects) runtimeAccount(ctx context.Context, provider string, revision *unstructured.Unstructured) (string, error) {
	installed := &unstructured.Unstructured{}
	installed.SetGroupVersionKind(revision.GroupVersionKind().GroupVersion().WithKind("Provider"))
	if err := ob.client.Get(ctx, client.ObjectKey{Name: provider}, installed); err != nil {
		return "", err
	}
	named, _, _ := unstructured.NestedString(installed.Object, "spec", "runtimeConfigRef", "name")
	refs := []string{named}
	source, _, _ := unstructured.NestedString(revision.Object, "spec", "image")
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("pkg.crossplane.io/v1beta1")
	list.SetKind("ImageConfigList")
	if err := ob.client.List(ctx, list); err != nil {
		return "", err
	}
	for _, config := range list.Items {
		if ref, found, _ := unstructured.NestedString(config.Object, "spec", "runtime", "configRef", "name"); found && matches(config, source) {
			refs = append(refs, ref)
		}
	}
	for _, ref := range slices.Backward(refs) {
		runtime := &unstructured.Unstructured{}
		runtime.SetAPIVersion("pkg.crossplane.io/v1beta1")
		runtime.SetKind("DeploymentRuntimeConfig")
		if err := ob.client.Get(ctx, client.ObjectKey{Name: ref}, runtime); err != nil {
			return "", fmt.Errorf("cannot get DeploymentRuntimeConfig %q: %w", ref, err)
		}
		if name, _, _ := unstructured.NestedString(runtime.Object, "spec", "serviceAccountTemplate", "metadata", "name"); name != "" {
			return name, nil
		}
	}
	return revision.GetName(), nil
}

// matches reports whether an ImageConfig applies to the image.
func matches(config unstructured.Unstructured, image string) bool {
	all, _, _ := unstructured.NestedSlice(config.Object, "spec", "matchImages")
	for _, m := range all {
		m, _ := m.(map[string]any)
		if prefix, _ := m["prefix"].(string); prefix != "" && strings.HasPrefix(image, prefix) {
			return true
		}
	}
	return false
}

// emptyDeployment returns a Deployment without pods.
func emptyDeployment(name, account string) *appsv1.Deployment {
	labels := map[string]string{"koldun.gorizond.io/test": name}
	replicas := int32(0)
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: SystemNamespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					ServiceAccountName: account,
					Containers:         []corev1.Container{{Name: "provider", Image: "runs-in-the-test"}},
				},
			},
		},
	}
}

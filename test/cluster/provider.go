package cluster

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ConnectProvider does for a Provider that was installed from its package what
// the runtime "External" leaves to others, so that its CRDs are installed and
// the RBAC manager gives its service account the rights that a provider has.
// It returns the path of a kubeconfig of that service account, for the process
// that is the provider.
func (c *Cluster) ConnectProvider(ctx context.Context, name string) (kubeconfig string, err error) {
	revision, err := c.reportRuntime(ctx, "Provider", name, func(*unstructured.Unstructured) error { return nil })
	if err != nil {
		return "", err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: SystemNamespace, Name: revision.GetName()}}
	if err := c.client.Create(ctx, account); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("cannot create service account of Provider %q: %w", name, err)
	}
	// The RBAC manager finds the service account in the Deployment that the
	// revision owns.
	deployment := emptyDeployment(account.Name)
	deployment.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(revision, revision.GroupVersionKind())}
	if err := c.client.Create(ctx, deployment); err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("cannot create Deployment of Provider %q: %w", name, err)
	}
	return c.serviceAccountKubeconfig(ctx, account.Name)
}

// emptyDeployment has no pods, and the service account of its own name.
func emptyDeployment(name string) *appsv1.Deployment {
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
					ServiceAccountName: name,
					Containers:         []corev1.Container{{Name: "provider", Image: "runs-in-the-test"}},
				},
			},
		},
	}
}

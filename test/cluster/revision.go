package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What Crossplane's package manager and function runner look for.
const (
	packages          = "pkg.crossplane.io/v1"
	labelPackage      = "pkg.crossplane.io/package"
	annotationPaused  = "crossplane.io/paused"
	capabilityCompose = "composition"
)

// unpackedWithin is how long a package may take from being installed to
// having a revision.
const unpackedWithin = time.Minute

// ConnectFunction leads Crossplane to a Function of that name that listens at
// address (host:port of loopback) with [Cluster.FunctionCertificates]. It does
// what the runtime "External" leaves to others: the active revision gets an
// endpoint, and is healthy.
func (c *Cluster) ConnectFunction(ctx context.Context, name, address string) error {
	ctx, cancel := context.WithTimeout(ctx, unpackedWithin)
	defer cancel()
	if err := c.ensureFunction(ctx, name); err != nil {
		return err
	}
	err := poll(ctx, func(ctx context.Context) error {
		revision, err := c.activeRevision(ctx, name)
		if err != nil {
			return err
		}
		if err := connect(revision, address); err != nil {
			return err
		}
		if err := c.reportCertificate(ctx, name, revision); err != nil {
			return err
		}
		return c.client.Status().Update(ctx, revision) // again if it changed meanwhile
	})
	if err != nil {
		return fmt.Errorf("cannot connect Function %q: %w", name, err)
	}
	return nil
}

// connect sets the status that a runtime reports.
func connect(revision *unstructured.Unstructured, address string) error {
	conditions, _, err := unstructured.NestedSlice(revision.Object, "status", "conditions")
	if err != nil {
		return err
	}
	healthy := map[string]any{
		"type": "RuntimeHealthy", "status": "True", "reason": "HealthyPackageRevision",
		"lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
	}
	others := []any{healthy}
	for _, v := range conditions {
		if m, ok := v.(map[string]any); ok && m["type"] != healthy["type"] {
			others = append(others, v)
		}
	}
	err = errors.Join(
		unstructured.SetNestedSlice(revision.Object, others, "status", "conditions"),
		unstructured.SetNestedField(revision.Object, address, "status", "endpoint"),
	)
	if _, known, _ := unstructured.NestedSlice(revision.Object, "status", "capabilities"); known || err != nil {
		return err
	}
	return unstructured.SetNestedStringSlice(revision.Object, []string{capabilityCompose}, "status", "capabilities")
}

// reportCertificate makes a Secret with a server's certificate and names it in
// the status: the package manager installs no objects of the package before.
func (c *Cluster) reportCertificate(ctx context.Context, name string, revision *unstructured.Unstructured) error {
	data, err := c.serverCertificate(ctx)
	if err != nil {
		return err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: SystemNamespace, Name: name + "-tls-server"}, Data: data}
	if err := c.client.Create(ctx, secret); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return unstructured.SetNestedField(revision.Object, secret.Name, "status", "tlsServerSecretName")
}

// activeRevision of the Function.
func (c *Cluster) activeRevision(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(schema.FromAPIVersionAndKind(packages, "FunctionRevisionList"))
	if err := c.client.List(ctx, &list, client.MatchingLabels{labelPackage: name}); err != nil {
		return nil, err
	}
	for i := range list.Items {
		state, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "desiredState")
		if state == "Active" {
			return &list.Items[i], nil
		}
	}
	return nil, errors.New("it has no active revision")
}

// ensureFunction makes a Function and its revision, unless there is one. It
// does what the package manager would, and keeps that from looking for a
// package.
func (c *Cluster) ensureFunction(ctx context.Context, name string) error {
	image := "registry.invalid/" + name + ":v0.0.0"
	err := c.client.Create(ctx, paused("Function", name, map[string]any{"package": image}))
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot create Function %q: %w", name, err)
	}
	revision := paused("FunctionRevision", name+"-served", map[string]any{
		"image": image, "desiredState": "Active", "revision": int64(1),
	})
	revision.SetLabels(map[string]string{labelPackage: name})
	if err := c.client.Create(ctx, revision); err != nil {
		return fmt.Errorf("cannot create revision of Function %q: %w", name, err)
	}
	return nil
}

func paused(kind, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetGroupVersionKind(schema.FromAPIVersionAndKind(packages, kind))
	o.SetName(name)
	o.SetAnnotations(map[string]string{annotationPaused: "true"})
	return o
}

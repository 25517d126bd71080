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
	conditionRuntime  = "RuntimeHealthy"
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
	if err := c.ensureFunction(ctx, name); err != nil {
		return err
	}
	_, err := c.reportRuntime(ctx, "Function", name, func(revision *unstructured.Unstructured) error {
		if err := unstructured.SetNestedField(revision.Object, address, "status", "endpoint"); err != nil {
			return err
		}
		if _, known, _ := unstructured.NestedSlice(revision.Object, "status", "capabilities"); known {
			return nil
		}
		return unstructured.SetNestedStringSlice(revision.Object, []string{capabilityCompose}, "status", "capabilities")
	})
	return err
}

// reportRuntime waits for the active revision of a package, and reports that
// its runtime is healthy, and whatever set adds to its status.
func (c *Cluster) reportRuntime(ctx context.Context, kind, name string, set func(*unstructured.Unstructured) error) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, unpackedWithin)
	defer cancel()
	var revision *unstructured.Unstructured
	err := poll(ctx, func(ctx context.Context) error {
		var err error
		if revision, err = c.activeRevision(ctx, kind, name); err != nil {
			return err
		}
		if err := c.reportCertificate(ctx, name, revision); err != nil {
			return err
		}
		if err := errors.Join(setHealthy(revision), set(revision)); err != nil {
			return err
		}
		return c.client.Status().Update(ctx, revision) // again if it changed meanwhile
	})
	if err != nil {
		return nil, fmt.Errorf("cannot connect %s %q: %w", kind, name, err)
	}
	return revision, nil
}

// setHealthy sets the condition that a runtime reports.
func setHealthy(revision *unstructured.Unstructured) error {
	conditions, _, err := unstructured.NestedSlice(revision.Object, "status", "conditions")
	if err != nil {
		return err
	}
	all := []any{map[string]any{
		"type": conditionRuntime, "status": "True", "reason": "HealthyPackageRevision",
		"lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
	}}
	for _, v := range conditions {
		if m, ok := v.(map[string]any); ok && m["type"] != conditionRuntime {
			all = append(all, v)
		}
	}
	return unstructured.SetNestedSlice(revision.Object, all, "status", "conditions")
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

// activeRevision of a package.
func (c *Cluster) activeRevision(ctx context.Context, kind, name string) (*unstructured.Unstructured, error) {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(schema.FromAPIVersionAndKind(packages, kind+"RevisionList"))
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

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

	"github.com/gorizond/koldun/test/waittest"
)

// Names that Crossplane's package manager and function runner expect.
const (
	packages          = "pkg.crossplane.io/v1"
	labelPackage      = "pkg.crossplane.io/package"
	annotationPaused  = "crossplane.io/paused"
	conditionRuntime  = "RuntimeHealthy"
	capabilityCompose = "composition"
)

// unpackedWithin is the time limit for an installed package to get a revision.
const unpackedWithin = time.Minute

// ConnectFunction connects Crossplane to the named Function, which listens at address
// (host:port on loopback) with [Cluster.FunctionCertificates]. As the runtime
// "External" requires, it sets the endpoint of the active revision and marks it
// healthy.
func (r *revisions) ConnectFunction(ctx context.Context, name, address string) error {
	if err := r.ensureFunction(ctx, name); err != nil {
		return err
	}
	_, err := r.reportRuntime(ctx, "Function", name, func(revision *unstructured.Unstructured) error {
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

// reportRuntime waits for the active revision of a package, sets its status with set,
// and marks its runtime healthy.
func (r *revisions) reportRuntime(ctx context.Context, kind, name string, set func(*unstructured.Unstructured) error) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(unpackedWithin))
	defer cancel()
	var revision *unstructured.Unstructured
	err := Poll(ctx, func(ctx context.Context) error {
		var err error
		if revision, err = r.activeRevision(ctx, kind, name); err != nil {
			return err
		}
		if err := r.reportCertificate(ctx, name, revision); err != nil {
			return err
		}
		if err := errors.Join(setHealthy(revision), set(revision)); err != nil {
			return err
		}
		return r.client.Status().Update(ctx, revision) // a conflict is retried
	})
	if err != nil {
		return nil, fmt.Errorf("cannot connect %s %q: %w", kind, name, err)
	}
	return revision, nil
}

// ReportProviderDown reports that no pod of an installed Provider is available, as the
// package manager does.
func (r *revisions) ReportProviderDown(ctx context.Context, name string) error {
	revision, err := r.activeRevision(ctx, "Provider", name)
	if err != nil {
		return err
	}
	if err := setHealth(revision, map[string]any{
		"status": "False", "reason": "UnhealthyPackageRevision", "message": "provider package deployment is unavailable",
	}); err != nil {
		return err
	}
	return r.client.Status().Update(ctx, revision)
}

// setHealthy sets the condition that a package runtime reports.
func setHealthy(revision *unstructured.Unstructured) error {
	return setHealth(revision, map[string]any{"status": "True", "reason": "HealthyPackageRevision"})
}

func setHealth(revision *unstructured.Unstructured, condition map[string]any) error {
	conditions, _, err := unstructured.NestedSlice(revision.Object, "status", "conditions")
	if err != nil {
		return err
	}
	condition["type"], condition["lastTransitionTime"] = conditionRuntime, time.Now().UTC().Format(time.RFC3339)
	all := []any{condition}
	for _, v := range conditions {
		if m, ok := v.(map[string]any); ok && m["type"] != conditionRuntime {
			all = append(all, v)
		}
	}
	return unstructured.SetNestedSlice(revision.Object, all, "status", "conditions")
}

// reportCertificate creates a Secret with a server's certificate and sets its name in
// the status: the package manager requires it before it installs the package's
// objects.
func (r *revisions) reportCertificate(ctx context.Context, name string, revision *unstructured.Unstructured) error {
	data, err := r.certificates.serverCertificate(ctx)
	if err != nil {
		return err
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: SystemNamespace, Name: name + "-tls-server"}, Data: data}
	if err := r.client.Create(ctx, secret); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return unstructured.SetNestedField(revision.Object, secret.Name, "status", "tlsServerSecretName")
}

// activeRevision returns the active revision of a package.
func (r *revisions) activeRevision(ctx context.Context, kind, name string) (*unstructured.Unstructured, error) {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(schema.FromAPIVersionAndKind(packages, kind+"RevisionList"))
	if err := r.client.List(ctx, &list, client.MatchingLabels{labelPackage: name}); err != nil {
		return nil, err
	}
	for i := range list.Items {
		state, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "desiredState")
		if state == "Active" {
			return &list.Items[i], nil
		}
	}
	return nil, errors.New("the package has no active revision")
}

// ensureFunction creates a Function and its revision if they do not exist, in place of
// the package manager, and pauses them so that the package manager does not pull a
// package.
func (r *revisions) ensureFunction(ctx context.Context, name string) error {
	image := "registry.invalid/" + name + ":v0.0.0"
	err := r.client.Create(ctx, paused("Function", name, map[string]any{"package": image}))
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
	if err := r.client.Create(ctx, revision); err != nil {
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

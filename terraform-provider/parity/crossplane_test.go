package parity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/internal/local/embedded/nats/natstest"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/terraform-provider/internal/crd"
	"github.com/gorizond/koldun/test/cluster"
)

// connection is the name of the ProviderConfig of a scenario and of its Secret.
const connection = "servers"

// crossplane is a managed resource that the provider's controllers reconcile.
type crossplane struct {
	t            *testing.T
	cluster      *cluster.Cluster
	kind         *crd.Kind
	object       *unstructured.Unstructured
	via          map[string]any // the ProviderConfig; nil if the kind needs no server but the cluster
	more         map[string]any // of spec
	given        map[string]any // all fields of forProvider that manifests have set so far
	observations int
}

func newCrossplane(t *testing.T, s *servers, c scenario) manager {
	t.Helper()
	k, err := crd.Load(crd.Managed, c.plural)
	if err != nil {
		t.Fatal(err)
	}
	f := &crossplane{t: t, cluster: s.kubernetes, kind: k, object: &unstructured.Unstructured{}, more: c.manifest, given: map[string]any{}}
	ns := c.namespace()
	f.cluster.NamespaceCalled(t, ns)
	f.object.SetAPIVersion(k.APIVersion())
	f.object.SetKind(k.Kind)
	f.object.SetName(ns) // cluster-scoped scenarios run at the same time
	if k.Namespaced {
		f.object.SetName(resourceName)
		f.object.SetNamespace(ns)
	}
	f.manifest(ns, map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": connection},
		"stringData": map[string]any{
			"user": natstest.User, "password": natstest.Password,
			"AWS_ACCESS_KEY_ID": s3test.AccessKey, "AWS_SECRET_ACCESS_KEY": s3test.SecretKey,
		},
	})
	f.connect(ns, s)
	if c.secret != "" {
		f.manifest(ns, map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": secretName}, "stringData": map[string]any{"token": c.secret},
		})
	}
	return f
}

// connect makes the ProviderConfig of the scenario.
func (f *crossplane) connect(ns string, s *servers) {
	f.t.Helper()
	if s.operator != nil {
		f.operate(ns, s)
		return
	}
	f.manifest(ns, map[string]any{
		"apiVersion": f.kind.APIVersion(), "kind": v1alpha1.KindProviderConfig, "metadata": map[string]any{"name": connection},
		"spec": map[string]any{
			"nats": map[string]any{"url": s.nats.URL(), "secretRef": map[string]any{"name": connection}},
			"s3":   map[string]any{"endpoint": s.s3.Endpoint, "secretRef": map[string]any{"name": connection}},
		},
	})
	if f.kind.Namespaced {
		f.via = map[string]any{"kind": v1alpha1.KindProviderConfig, "name": connection}
	}
}

// operate makes a ClusterProviderConfig with the keys of the operator.
func (f *crossplane) operate(ns string, s *servers) {
	f.t.Helper()
	const keys = "operator"
	f.manifest(ns, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": keys}, "stringData": s.keys()})
	f.manifest("", map[string]any{
		"apiVersion": f.kind.APIVersion(), "kind": v1alpha1.KindClusterProviderConfig, "metadata": map[string]any{"name": ns},
		"spec": map[string]any{
			"allowedNamespaces": map[string]any{"names": []any{ns}},
			"nats":              map[string]any{"url": s.operator.URL(), "operator": map[string]any{"secretRef": map[string]any{"namespace": ns, "name": keys}}},
			"s3":                map[string]any{"endpoint": s.s3.Endpoint, "secretRef": map[string]any{"namespace": ns, "name": connection}},
		},
	})
	s.to(ns, credentials)
	f.via = map[string]any{"kind": v1alpha1.KindClusterProviderConfig, "name": ns}
}

func (f *crossplane) manifest(namespace string, o map[string]any) {
	f.t.Helper()
	if err := f.applyObject(namespace, o); err != nil {
		f.t.Fatal(err)
	}
}

func (f *crossplane) applyObject(namespace string, o map[string]any) error {
	raw, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return f.cluster.ApplyIn(f.t.Context(), namespace, string(raw))
}

// send applies a manifest with the spec, as kubectl apply --server-side does.
func (f *crossplane) send(spec map[string]any) error {
	metadata := map[string]any{"name": f.object.GetName()}
	if f.observations > 0 {
		metadata["annotations"] = map[string]any{meta.AnnotationKeyReconcileRequestedAt: strconv.Itoa(f.observations)}
	}
	whole := map[string]any{}
	if f.via != nil {
		whole["providerConfigRef"] = f.via
	}
	wanted := maps.Clone(spec)
	for name := range f.given {
		if none, ok := resets()[f.kind.Plural][name]; ok && wanted[name] == nil {
			wanted[name] = none
		}
	}
	maps.Copy(f.given, spec)
	for name, v := range f.more {
		if f.kind.Spec.Child(name) != nil {
			wanted[name] = v
		} else {
			whole[name] = v
		}
	}
	whole["forProvider"] = wanted
	return f.applyObject(f.object.GetNamespace(), map[string]any{"apiVersion": f.kind.APIVersion(), "kind": f.kind.Kind, "metadata": metadata, "spec": whole})
}

func (f *crossplane) apply(spec map[string]any) {
	f.t.Helper()
	if err := f.send(spec); err != nil {
		f.t.Fatal(err)
	}
	f.settled()
}

func (f *crossplane) settled() {
	f.t.Helper()
	cluster.Eventually(f.t, f.kind.Kind+" to be ready", func(ctx context.Context) error {
		if err := f.cluster.Client().Get(ctx, client.ObjectKeyFromObject(f.object), f.object); err != nil {
			return err
		}
		handled, _, _ := unstructured.NestedString(f.object.Object, "status", "lastHandledReconcileAt")
		if f.observations > 0 && handled != strconv.Itoa(f.observations) {
			return errors.New("not observed again")
		}
		ready, synced := f.condition("Ready"), f.condition("Synced")
		if ready.Status != metav1.ConditionTrue || synced.Status != metav1.ConditionTrue || synced.ObservedGeneration != f.object.GetGeneration() {
			return fmt.Errorf("ready %s %q, synced %s %q", ready.Status, ready.Message, synced.Status, synced.Message)
		}
		return nil
	})
}

func (f *crossplane) condition(kind string) (out metav1.Condition) {
	list, _, _ := unstructured.NestedSlice(f.object.Object, "status", "conditions")
	for _, c := range list {
		if m, _ := c.(map[string]any); m["type"] == kind {
			raw, _ := json.Marshal(m)
			_ = json.Unmarshal(raw, &out)
		}
	}
	return out
}

// reobserve requests a reconcile, as kubectl annotate would.
func (f *crossplane) reobserve(spec map[string]any) {
	f.t.Helper()
	f.observations++
	f.apply(spec)
}

func (f *crossplane) refused(spec map[string]any, why string) {
	f.t.Helper()
	if err := f.send(spec); err != nil {
		f.t.Fatal(err)
	}
	cluster.Eventually(f.t, f.kind.Kind+" to be refused for "+why, func(ctx context.Context) error {
		if err := f.cluster.Client().Get(ctx, client.ObjectKeyFromObject(f.object), f.object); err != nil {
			return err
		}
		if c := f.condition("Synced"); c.Status != metav1.ConditionFalse || !strings.Contains(c.Message, why) {
			return fmt.Errorf("synced %s %q", c.Status, c.Message)
		}
		return nil
	})
}

func (f *crossplane) delete() {
	f.t.Helper()
	if err := f.cluster.Client().Delete(f.t.Context(), f.object); err != nil {
		f.t.Fatal(err)
	}
	cluster.Eventually(f.t, f.kind.Kind+" to be deleted", func(ctx context.Context) error {
		err := f.cluster.Client().Get(ctx, client.ObjectKeyFromObject(f.object), f.object)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, fmt.Errorf("still exists, synced %q", f.condition("Synced").Message))
	})
}

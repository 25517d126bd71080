package e2e_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gorizond/koldun/apis/managed/v1alpha1"
	"github.com/gorizond/koldun/apis/prerequisites"
	"github.com/gorizond/koldun/internal/local/embedded/s3/s3test"
	"github.com/gorizond/koldun/test/cluster"
)

// An installation is a cluster with the packages of a flavour. Tests share it, one after
// another: to start a cluster and to install packages takes more CPU time than most tests.
type installation struct {
	cluster   cluster.Shared
	once      sync.Once
	installer *installer // nil if the installation failed
}

// installations holds the idle installations of each flavour. Most tests use the first flavour,
// and spend most of their time waiting, so two of them run at a time.
var installations = map[string]chan *installation{ //nolint:gochecknoglobals // TestMain makes and stops them
	"Namespaced": make(chan *installation, 2),
	"Claims":     make(chan *installation, 1),
}

// TestMain can also run this binary as the S3 gateway.
func TestMain(m *testing.M) {
	var all []*installation
	for name := range flavours() {
		for range cap(installations[name]) {
			i := &installation{}
			i.reset()
			all = append(all, i)
			installations[name] <- i
		}
	}
	status := s3test.Run(m)
	for _, i := range all {
		i.cluster.Stop()
	}
	os.Exit(status)
}

// reset makes the next test start a cluster.
func (i *installation) reset() {
	i.cluster = cluster.Shared{Options: cluster.Options{Autoscaler: true}}
	i.once, i.installer = sync.Once{}, nil
}

// installed returns a suite of the test on a shared cluster of a flavour, which no other test
// uses until it ends. A test that fails leaves its objects behind, so the next one gets
// another cluster.
func installed(t *testing.T, name string) *suite {
	t.Helper()
	i := <-installations[name] // as long as other tests take
	t.Cleanup(func() { installations[name] <- i })
	t.Cleanup(func() {
		if t.Failed() && i.installer != nil {
			i.cluster.Stop()
			i.reset()
		}
	})
	c := i.cluster.Cluster(t)
	i.once.Do(func() {
		p := newSuite(c, flavours()[name], build(t))
		p.installer.install(t)
		i.installer = p.installer
	})
	if i.installer == nil {
		t.Fatal("the packages are not installed: see the first test of this flavour")
	}
	p := newSuite(c, flavours()[name], i.installer.programs)
	p.installer.function, p.installer.providerIdentity = i.installer.function, i.installer.providerIdentity
	p.cleanup.shared = true
	p.budgets.opened = p.budgets.opens(t)
	return p
}

// vacate waits until nothing of the test is left on a shared cluster, as long as the
// processes run that have to delete it. The next test finds the cluster as it was after
// the installation.
func (c *cleanup) vacate(t *testing.T) {
	if !c.shared || t.Failed() {
		return
	}
	cluster.Eventually(t, "the objects of the test to be gone", c.vacant)
	kind := v1alpha1.GroupVersion.WithKind(v1alpha1.KindClusterProviderConfig)
	c.remove(t, kind, "default")
	cluster.Eventually(t, "the connection settings to be gone", func(ctx context.Context) error {
		_, err := c.get(ctx, "", kind.GroupVersion().String(), kind.Kind, "default")
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("the ClusterProviderConfig still exists: %w", err)
	})
}

// remove deletes an object of the cluster, if it exists. Cleanups may call it.
func (c *cleanup) remove(t *testing.T, kind schema.GroupVersionKind, name string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	o.SetName(name)
	if err := c.Client().Delete(ctx, o); err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}

// vacant returns an error while an object of Koldun exists, or a namespace is deleted.
func (c *cleanup) vacant(ctx context.Context) error {
	list := &unstructured.UnstructuredList{}
	for _, r := range c.watched {
		if !strings.HasSuffix(r.Group, "koldun.gorizond.io") && !strings.HasSuffix(r.Group, "koldun.m.gorizond.io") {
			continue
		}
		kind, err := c.Client().RESTMapper().KindFor(r)
		if err != nil {
			return err
		}
		list.SetGroupVersionKind(kind)
		if err := c.Client().List(ctx, list); err != nil {
			return err
		}
		if len(list.Items) > 0 {
			return fmt.Errorf("%d objects of kind %s remain, such as %q", len(list.Items), kind.Kind, list.Items[0].GetName())
		}
	}
	list.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "NamespaceList"})
	if err := c.Client().List(ctx, list); err != nil {
		return err
	}
	for _, ns := range list.Items {
		if ns.GetDeletionTimestamp() != nil {
			return fmt.Errorf("namespace %q remains: %v", ns.GetName(), ns.Object["status"])
		}
	}
	return nil
}

// forget deletes what a provider has written about the cluster, after it has ended.
func (c *cleanup) forget(t *testing.T) {
	c.remove(t, schema.FromAPIVersionAndKind(prerequisites.APIVersion, prerequisites.Kind), prerequisites.Name)
}

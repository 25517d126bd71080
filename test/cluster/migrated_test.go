package cluster_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/cmd/koldun/migrate"
	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
	"github.com/gorizond/koldun/test/cluster"
)

// TestMigratedManifestsAreComposed converts the examples of hf-operator, Prem-Operator and
// Model Orchestra, and manifests with all fields of their kinds. The API server accepts
// the claims, and all that is composed of them.
func TestMigratedManifestsAreComposed(t *testing.T) {
	c := shared.Cluster(t)
	ctx := t.Context()
	folders, err := filepath.Glob("../../package/configuration/*")
	if err != nil {
		t.Fatal(err)
	}
	var plurals []string
	for _, f := range folders {
		plurals = append(plurals, filepath.Base(f))
	}
	packaged(t, c, plurals...)
	if err := c.Apply(ctx, anyKind("keda.sh", "v1alpha1", "ScaledObject"), anyKind("monitoring.coreos.com", "v1", "ServiceMonitor")); err != nil {
		t.Fatal(err)
	}
	if err := c.ServeFunction(ctx, packageFunction, router.New(compose.Config{Image: "koldun:stable", Trusted: true})); err != nil {
		t.Fatal(err)
	}
	migrator, err := migrate.New(migrate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hf-*", "prem*", "model-orchestra*", "autonodelabeler*"} {
		files, err := filepath.Glob("../../cmd/koldun/migrate/testdata/[ef]*/" + name + ".yaml")
		if err != nil || len(files) == 0 {
			t.Fatalf("there are no manifests %s: %v", name, err)
		}
		for _, file := range files {
			ns := c.Namespace(t)
			for _, claim := range migrated(t, migrator, file) {
				name := fmt.Sprintf("%s/%s-%s", strings.TrimSuffix(filepath.Base(file), ".yaml"), claim.GetKind(), claim.GetName())
				t.Run(name, func(t *testing.T) {
					claim.SetNamespace(ns)
					if claim.GetKind() == v1.KindAutoNodeLabeler {
						claim.SetNamespace("")
						claim.SetName(claim.GetName() + "-" + ns)
					}
					if err := c.Client().Create(ctx, claim); err != nil {
						t.Fatal(err)
					}
					cluster.Eventually(t, "all that is composed to be accepted", composed(c, claim))
				})
			}
		}
	}
}

func migrated(t *testing.T, m *migrate.Migrator, file string) (claims []*unstructured.Unstructured) {
	t.Helper()
	f, err := os.Open(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	docs, err := migrate.Read(file, f)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		r, err := m.Convert(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range r.Objects {
			models, _, _ := unstructured.NestedSlice(o, "spec", "models")
			for _, m := range models { // all objects of a file are in one namespace here
				unstructured.RemoveNestedField(m.(map[string]any), "modelMapRef", "namespace")
			}
			if len(models) > 0 {
				_ = unstructured.SetNestedSlice(o, models, "spec", "models")
			}
			claims = append(claims, &unstructured.Unstructured{Object: o})
		}
	}
	return claims
}

// composed returns a check that fails until Crossplane has applied what the function
// composes of the newest spec, which is not nothing.
func composed(c *cluster.Cluster, claim *unstructured.Unstructured) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := holds(c, claim.GetNamespace(), v1.APIVersion, claim.GetKind(), claim.GetName(), "Synced")(ctx); err != nil {
			return err
		}
		if claim.GetKind() == v1.KindAIModelMap {
			return nil
		}
		return contains(c, claim.GetNamespace(), v1.APIVersion, claim.GetKind(), claim.GetName(), `"resourceRefs":[{`)(ctx)
	}
}

package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/gorizond/koldun/apis/composite/v1"
	"github.com/gorizond/koldun/cmd/koldun/migrate"
	"github.com/gorizond/koldun/terraform-provider/hcl"
	"github.com/gorizond/koldun/terraform-provider/internal/claim"
)

// TestMigratedClaims gives the claims of koldun migrate to an API server, and plans
// their resources, which import them.
func TestMigratedClaims(t *testing.T) {
	m, c := mirror(t), shared.Cluster(t)
	namespace := c.Namespace(t)
	files, err := filepath.Glob("../../cmd/koldun/migrate/testdata/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	migrator, err := migrate.New(migrate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var config strings.Builder
	taken, claims := hcl.Addresses{}, 0
	for _, file := range files {
		if strings.Contains(file, "/golden/") {
			continue
		}
		for _, d := range documents(t, file) {
			meta, _ := d.Object["metadata"].(map[string]any)
			meta["name"], meta["namespace"] = fmt.Sprintf("migrated-%d", claims), namespace
			r, err := migrator.Convert(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Objects) == 0 || r.Objects[0]["apiVersion"] != v1.APIVersion {
				continue
			}
			known := slices.ContainsFunc(claim.Kinds(), func(k claim.Kind) bool { return k.Name == hcl.ResourceName(fmt.Sprint(r.Objects[0]["kind"])) })
			if !known {
				continue
			}
			if err := migrate.WriteHCL(&config, r, taken); err != nil {
				t.Fatal(err)
			}
			if err := c.Client().Create(t.Context(), &unstructured.Unstructured{Object: r.Objects[0]}); err != nil {
				t.Fatalf("the API server refuses %s: %v", file, err)
			}
			claims++
		}
	}
	f := m.Folder(t, head+config.String(), "KUBECONFIG="+c.Kubeconfig())
	f.OK("validate")
	out := f.OK("plan")
	if want := fmt.Sprintf("Plan: %d to import, 0 to add, ", claims); claims == 0 || !strings.Contains(out, want) || strings.Contains(out, "must be replaced") {
		t.Errorf("the plan is not %q:\n%s", want, out)
	}
}

func documents(t *testing.T, file string) []*migrate.Document {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	docs, err := migrate.Read(file, f)
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

package render

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/cmd/koldun/claims"
)

// TestGolden compares the composed resources of every example with the golden files.
// UPDATE=1 writes the files.
func TestGolden(t *testing.T) {
	schemas, err := validation.Load()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, pattern := range []string{"../../../examples/quickstart/*.yaml", "../../../examples/claims/*.yaml", "../../../examples/argocd/app/serving/dllama.yaml", "../../../examples/argocd/app/models/model.yaml", "../../../examples/argocd/app/connection/ingress.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no examples match %s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	for _, name := range files {
		folder := filepath.Base(filepath.Dir(name))
		base := strings.TrimSuffix(filepath.Base(name), ".yaml")
		t.Run(folder+"/"+base, func(t *testing.T) {
			read, err := claims.Read(t.Context(), schemas, []string{singleTeam, name})
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := Claims(t.Context(), Config{Schemas: schemas, Image: "ghcr.io/gorizond/koldun:golden"}, read, &got); err != nil {
				t.Fatal(err)
			}
			rendered := got.String()
			golden := filepath.Join("testdata", "golden", folder+"-"+base+".yaml")
			if os.Getenv("UPDATE") != "" {
				if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, []byte(rendered), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), rendered); diff != "" {
				t.Errorf("composed resources differ (-want +got); UPDATE=1 accepts them:\n%s", diff)
			}
		})
	}
}

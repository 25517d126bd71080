package render

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/gorizond/koldun/apis/validation"
	"github.com/gorizond/koldun/cmd/koldun/claims"
)

// singleTeam allows claims everything.
const singleTeam = "../../../package/single-team.yaml"

// render returns what koldun render prints for a file of claims, and its error. config is
// the config.json of all models, or "".
func render(t *testing.T, schemas *validation.Schemas, config, text string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "claims.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := claims.Read(t.Context(), schemas, []string{singleTeam, file})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = Claims(t.Context(), Config{Schemas: schemas, Image: "koldun:test", Model: config}, read, &out)
	return out.String(), err
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/gorizond/koldun/apis/validation"
)

// singleTeam allows claims everything.
const singleTeam = "../../package/single-team.yaml"

// render returns what koldun render prints for a file of claims, and its error. config is
// the config.json of all models, or "".
func render(t *testing.T, schemas *validation.Schemas, config, claims string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "claims.yaml")
	if err := os.WriteFile(file, []byte(claims), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := readClaims(t.Context(), schemas, []string{singleTeam, file})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r := newRenderer(schemas, "koldun:test", &out)
	r.config = config
	err = r.renderAll(t.Context(), read)
	return out.String(), err
}

// Package jinjatest reads the chat templates of real models for tests.
package jinjatest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// ReadCases decodes the file cases.json of the folder $CHAT_TEMPLATES: templates by model,
// and cases with data and the text that Jinja2 renders. Without the folder, it skips the
// test of the package with the command that runs it.
func ReadCases(tb testing.TB, pkg string, cases any) {
	tb.Helper()
	dir := os.Getenv("CHAT_TEMPLATES")
	if dir == "" {
		tb.Skip("without templates of real models; run: CHAT_TEMPLATES=/path/to/chat_templates go test " + pkg)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "cases.json"))
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(raw, cases); err != nil {
		tb.Fatal(err)
	}
}

package s3_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/artifact/objectstore/s3"
	"github.com/gorizond/koldun/internal/fault"
)

// TestUnusableCredentials checks that what is wrong with credentials shows, and they do
// not.
func TestUnusableCredentials(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s3.json")
	for name, c := range map[string]struct {
		credentials, content, says string
		kind                       fault.Kind
	}{
		"NoFile":  {file + "x", "", "no such file", fault.Invalid},
		"NoJSON":  {file, "SECRET", file + ": they are not the JSON", fault.Invalid},
		"Partial": {`{"Version":1,"AccessKeyId":"SECRET"}`, "", "the environment: they have no Version 1", fault.Invalid},
		"Ended":   {`{"Version":1,"AccessKeyId":"SECRET","SecretAccessKey":"SECRET","Expiration":"2020-01-01T00:00:00Z"}`, "", "they ended at 2020-01-01T00:00:00Z", fault.Denied},
	} {
		if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		store, err := s3.Open(t.Context(), "bucket", "", s3.Config{Endpoint: "http://127.0.0.1:1", Credentials: c.credentials})
		if err != nil {
			t.Fatal(err)
		}
		_, err = store.Stat(t.Context(), "x")
		if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: got %v (%s), want %q (%s)", name, err, fault.KindOf(err), c.says, c.kind)
		}
	}
}

package acceptance

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorizond/koldun/terraform-provider/internal/tofu"
)

// written is all that the commands in a folder write.
type written struct {
	folder   *tofu.Folder
	terminal strings.Builder
}

const traceLog = "trace.log"

// logged has all further commands in a folder log what there is to log.
func logged(f *tofu.Folder) *written {
	f.Env = append(f.Env, "TF_LOG=TRACE", "TF_LOG_PATH="+filepath.Join(f.Dir, traceLog))
	return &written{folder: f}
}

// add keeps what a command has said.
func (w *written) add(out string) { w.terminal.WriteString(out) }

// lacks looks for secrets, plain and in base64, in the terminal, the state, the
// logs and all parts of saved.plan.
func (w *written) lacks(t *testing.T, secrets ...string) {
	t.Helper()
	check := func(where string, content []byte) {
		t.Helper()
		if len(content) == 0 {
			t.Fatalf("%s is empty", where)
		}
		for i, s := range secrets {
			if bytes.Contains(content, []byte(s)) || bytes.Contains(content, []byte(base64.StdEncoding.EncodeToString([]byte(s)))) {
				t.Errorf("%s holds secret %d", where, i)
			}
		}
	}
	check("what is written to the terminal", []byte(w.terminal.String()))
	for _, name := range []string{"terraform.tfstate", traceLog} {
		content, err := os.ReadFile(filepath.Join(w.folder.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		check(name, content)
	}
	plan, err := zip.OpenReader(filepath.Join(w.folder.Dir, "saved.plan"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plan.Close() }()
	for _, part := range plan.File {
		r, err := part.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		check("the plan's "+part.Name, content)
	}
}

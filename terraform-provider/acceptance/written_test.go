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

	"github.com/gorizond/koldun/terraform-provider/clitest"
)

// written collects the output of the commands in a folder.
type written struct {
	folder   *clitest.Folder
	terminal strings.Builder
}

const traceLog = "trace.log"

// logged makes all further commands in a folder write trace logs.
func logged(f *clitest.Folder) *written {
	f.Env = append(f.Env, "TF_LOG=TRACE", "TF_LOG_PATH="+filepath.Join(f.Dir, traceLog))
	return &written{folder: f}
}

// add adds the output of a command.
func (w *written) add(out string) { w.terminal.WriteString(out) }

// lacks fails the test if the output, the state, the logs or a part of saved.plan
// holds a secret, plain or in base64.
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
	check("the output", []byte(w.terminal.String()))
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

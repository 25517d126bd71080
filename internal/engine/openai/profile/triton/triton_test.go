package triton_test

import (
	"archive/tar"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/internal/engine/openai/profile"
	"github.com/gorizond/koldun/internal/engine/openai/profile/triton"
	"github.com/gorizond/koldun/internal/fault"
)

// TestStart holds the flags of the frontend in the image's version.
func TestStart(t *testing.T) {
	got := triton.Profile().Start(profile.Launch{Model: "/model", ServedName: "ns/m", Port: "9990", Slots: 64, GPUs: 2})
	if d := cmp.Diff([]string{"--model-repository=/model", "--host=127.0.0.1", "--openai-port=9990"}, got.Args); d != "" {
		t.Errorf("the arguments differ (-want +got):\n%s", d)
	}
}

func TestUnfit(t *testing.T) {
	unfit := triton.Profile().Unfit
	if got := unfit(false, "/model"); got != "" {
		t.Errorf("a folder is refused: %s", got)
	}
	if got := unfit(true, "org/repo"); !strings.Contains(got, `"org/repo"`) {
		t.Errorf("a download gets %q", got)
	}
}

// TestAlone: models of the volume are in its folder; others come from URLs, which no
// shell reads.
func TestAlone(t *testing.T) {
	const hostile = `https://h/$(touch x)";.onnx`
	for name, c := range map[string]struct {
		models []profile.Model
		gets   int
		says   string // of the error
	}{
		"Volume": {models: []profile.Model{{Name: "m", URI: "$(DIR)/m", File: true}}},
		"URLs":   {models: []profile.Model{{Name: "a", URI: "https://h/a.tgz"}, {Name: "b", URI: hostile}}, gets: 2},
		"Mixed":  {models: []profile.Model{{Name: "a", File: true}, {Name: "b", URI: "http://h/b.onnx"}}, gets: 1},
		"Hub":    {models: []profile.Model{{Name: "a", URI: "org/repo"}}, says: `"org/repo" is no URL`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := triton.Profile().Deploy(profile.Deployment{Models: c.models, Host: "$(HOST)", Port: "$(PORT)", Folder: "$(DIR)"})
			if c.says != "" {
				if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("got error %v, want Invalid and %q", err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]string{"--model-repository=$(DIR)", "--http-address=$(HOST)", "--http-port=$(PORT)"}, got.Args); d != "" {
				t.Errorf("the arguments differ (-want +got):\n%s", d)
			}
			if n := strings.Count(got.Prepare, "\nget \"$"); n != c.gets || strings.Contains(got.Prepare, "touch") {
				t.Errorf("the script gets %d models, want %d:\n%s", n, c.gets, got.Prepare)
			}
		})
	}
}

// TestPrepare runs the script against a server: an archive is unpacked, and a file
// becomes version 1 of the model of its name.
func TestPrepare(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("install curl, then go test ./internal/engine/openai/profile/triton -run TestPrepare")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/repository.tar.gz":
			archive(t, w)
		case "/model.onnx":
			_, _ = w.Write([]byte("weights"))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	prepare := func(folder string, models ...profile.Model) error {
		s, err := triton.Profile().Deploy(profile.Deployment{Models: models, Folder: folder})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", s.Prepare)
		cmd.Env = append(os.Environ(), "KOLDUN_DIR_MODELS="+folder)
		for k, v := range s.Env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		return cmd.Run()
	}
	folder := t.TempDir()
	for range 2 { // the container may start again
		err := prepare(folder, profile.Model{Name: "all", URI: server.URL + "/repository.tar.gz?download=true"}, profile.Model{Name: "one", URI: server.URL + "/model.onnx?a=b"})
		if err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{"packed/config.pbtxt": "name", "one/1/model.onnx": "weights"} {
		if raw, err := os.ReadFile(filepath.Join(folder, file)); err != nil || string(raw) != want {
			t.Errorf("file %s holds %q: %v", file, raw, err)
		}
	}
	if err := prepare(t.TempDir(), profile.Model{Name: "m", URI: server.URL + "/absent.onnx"}); err == nil {
		t.Error("the script succeeds without the model")
	}
	if err := prepare(t.TempDir(), profile.Model{Name: "m", URI: server.URL + "/absent.tar.gz"}); err == nil {
		t.Error("the script succeeds without the archive")
	}
}

// archive writes a model repository.
func archive(t *testing.T, w http.ResponseWriter) {
	t.Helper()
	packed := gzip.NewWriter(w)
	files := tar.NewWriter(packed)
	err := files.WriteHeader(&tar.Header{Name: "packed/config.pbtxt", Mode: 0o600, Size: 4})
	if err == nil {
		_, err = files.Write([]byte("name"))
	}
	if err == nil {
		err = files.Close()
	}
	if err == nil {
		err = packed.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

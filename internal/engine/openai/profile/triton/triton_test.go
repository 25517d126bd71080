package triton_test

import (
	"archive/tar"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
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

// TestAlone: paths of the volume are model repositories, and so is what comes from each
// URL, which no shell reads.
func TestAlone(t *testing.T) {
	const hostile = `https://h/$(touch x)";.onnx`
	for name, c := range map[string]struct {
		models []profile.Model
		places []string
		gets   int
		says   string // of the error
	}{
		"Volume":  {models: []profile.Model{{Name: "m", URI: "$(DIR)/m", File: true}}, places: []string{"$(DIR)/m"}},
		"URLs":    {models: []profile.Model{{Name: "a", URI: "https://h/a.tgz"}, {Name: "b", URI: hostile}}, places: []string{"", ""}, gets: 2},
		"Mixed":   {models: []profile.Model{{Name: "a", URI: "$(DIR)/a/b", File: true}, {Name: "b", URI: "http://h/b.onnx"}}, places: []string{"$(DIR)/a/b", ""}, gets: 1},
		"Names":   {models: []profile.Model{{Name: "all", Named: true, URI: "https://h/a.tgz"}, {Name: "all", Named: true, URI: "$(DIR)/m", File: true}}, places: []string{"", "$(DIR)/m"}, gets: 1},
		"OneName": {models: []profile.Model{{URI: "https://h/a/model.onnx"}, {URI: "https://h/b/model.onnx"}}, says: `[0] and [1] are both called "model", so clients cannot tell them apart: give each a modelMapRef`},
		"Hub":     {models: []profile.Model{{Name: "a", URI: "org/repo"}}, says: `"org/repo" is no URL`},
		"NoModel": {models: []profile.Model{{Name: "a", URI: "https://h/model?x=a.onnx"}}, says: "neither an archive nor a model file"},
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
			var want []string
			for i, place := range c.places {
				if !c.models[i].File { // a hash of name and URL
					place = got.Env["KOLDUN_MODEL_REPOSITORY_"+strconv.Itoa(i)]
				}
				want = append(want, "--model-repository="+place)
			}
			if d := cmp.Diff(append(want, "--http-address=$(HOST)", "--http-port=$(PORT)"), got.Args); d != "" {
				t.Errorf("the arguments differ (-want +got):\n%s", d)
			}
			if n := strings.Count(got.Prepare, "\nget \"$"); n != c.gets || strings.Contains(got.Prepare, "touch") {
				t.Errorf("the script gets %d models, want %d:\n%s", n, c.gets, got.Prepare)
			}
		})
	}
}

// TestNames: a model of one file has the name of the file, unless the claim or its map
// names it.
func TestNames(t *testing.T) {
	for want, m := range map[string]profile.Model{
		"resnet":            {Name: "https://h/a/resnet.v2?x=y.onnx", URI: "https://h/a/resnet.v2?x=y.onnx"},
		"given":             {Name: "given", Named: true, URI: "https://h/a/resnet.onnx"},
		"https://h/all.tgz": {Name: "https://h/all.tgz", URI: "https://h/all.tgz"},
	} {
		if got := strings.Join(triton.Profile().NamesAlone(m), " "); got != want {
			t.Errorf("the name of %q is %q, want %q", m.URI, got, want)
		}
	}
}

// TestPrepare runs the script against a server: an archive is unpacked, and a file
// becomes version 1 of the model of its name, as Triton looks for it. What is there is
// not downloaded again, and what broke off is not there.
func TestPrepare(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("install curl, then go test ./internal/engine/openai/profile/triton -run TestPrepare")
	}
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		switch r.URL.Path {
		case "/repository.tar.gz":
			archive(t, w)
		case "/resnet.onnx":
			_, _ = w.Write([]byte("weights"))
		case "/broken.onnx", "/broken.tar":
			w.Header().Set("Content-Length", "20000")
			_, _ = w.Write(make([]byte, 10240)) // to tar, the end of an archive
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	prepareWith := func(before, folder string, models ...profile.Model) error {
		s, err := triton.Profile().Deploy(profile.Deployment{Models: models, Folder: folder})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", before+s.Prepare)
		cmd.Env = append(os.Environ(), "KOLDUN_DIR_TMP="+t.TempDir(), "POD_NAME=p-0")
		for k, v := range s.Env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		return cmd.Run()
	}
	prepare := func(folder string, models ...profile.Model) error { return prepareWith("", folder, models...) }
	folder := t.TempDir()
	for range 2 { // the container may start again
		if err := prepare(folder, profile.Model{URI: server.URL + "/repository.tar.gz?download=true"}, profile.Model{URI: server.URL + "/resnet.onnx?a=b"}); err != nil {
			t.Fatal(err)
		}
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("two files are downloaded with %d requests", n)
	}
	for file, want := range map[string]string{"packed/config.pbtxt": "name", "resnet/1/model.onnx": "weights"} {
		found, _ := filepath.Glob(filepath.Join(folder, "*", file))
		if len(found) != 1 {
			t.Errorf("there is no model repository with %s", file)
		} else if raw, err := os.ReadFile(found[0]); err != nil || string(raw) != want {
			t.Errorf("file %s holds %q: %v", found[0], raw, err)
		}
	}
	// What another pod left of a download was never removed.
	found, _ := filepath.Glob(filepath.Join(folder, "????????"))
	dead, live := found[0]+".p-1", found[0]+".p-2"
	for _, part := range []string{dead, live} {
		if err := os.MkdirAll(filepath.Join(part, "resnet"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script := `find() { case $1 in *.p-1) ;; *) command find "$@" ;; esac; }` + "\n"
	if err := prepareWith(script, folder, profile.Model{URI: server.URL + "/repository.tar.gz?download=true"}, profile.Model{URI: server.URL + "/resnet.onnx?a=b"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("the dead download is still there: %v", err)
	}
	if _, err := os.Stat(live); err != nil {
		t.Errorf("the download of another pod that goes on is removed: %v", err)
	}
	for _, name := range []string{"/absent.onnx", "/absent.tar.gz", "/absent.tar", "/broken.onnx", "/broken.tar"} {
		folder := t.TempDir()
		if err := prepare(folder, profile.Model{URI: server.URL + name}); err == nil {
			t.Errorf("the script succeeds without %s", name)
		}
		if found, _ := filepath.Glob(filepath.Join(folder, "????????")); len(found) > 0 {
			t.Errorf("%s leaves a model repository", name)
		}
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

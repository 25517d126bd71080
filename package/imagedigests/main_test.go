package main

import (
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/gorizond/koldun/internal/engine/images"
)

// A world is a registry, and a file that names its images.
type world struct {
	t          *testing.T
	host, file string
}

func newWorld(t *testing.T, constants string) *world {
	t.Helper()
	server := httptest.NewServer(registry.New())
	t.Cleanup(server.Close)
	w := &world{t, strings.TrimPrefix(server.URL, "http://"), filepath.Join(t.TempDir(), "images.go")}
	if err := os.WriteFile(w.file, []byte(strings.ReplaceAll(constants, "HOST", w.host)), 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

// push writes a new image and returns its digest.
func (w *world) push(image string) string {
	w.t.Helper()
	made, err := random.Image(64, 1)
	if err != nil {
		w.t.Fatal(err)
	}
	ref, err := name.NewTag(w.host + "/" + image)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := remote.Write(ref, made, remote.WithContext(w.t.Context())); err != nil {
		w.t.Fatal(err)
	}
	digest, err := made.Digest()
	if err != nil {
		w.t.Fatal(err)
	}
	return digest.String()
}

func (w *world) text() string {
	w.t.Helper()
	raw, err := os.ReadFile(w.file)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(raw)
}

func TestDigestsAreWritten(t *testing.T) {
	w := newWorld(t, "const (\n\tOne   = \"HOST/a/one:v1.2.0\"\n\tOther = \"HOST/other:25.12-py3\"\n)\n")
	one, other := w.push("a/one:v1.2.0"), w.push("other:25.12-py3")
	if err := update(t.Context(), w.file, io.Discard); err != nil {
		t.Fatal(err)
	}
	want := "const (\n\tOne   = \"" + w.host + "/a/one:v1.2.0@" + one + "\"\n\tOther = \"" + w.host + "/other:25.12-py3@" + other + "\"\n)\n"
	if got := w.text(); got != want {
		t.Fatalf("it writes %s, want %s", got, want)
	}
	if err := update(t.Context(), w.file, io.Discard); err != nil || w.text() != want {
		t.Errorf("again: %v, %s", err, w.text())
	}
	w.push("a/one:v1.2.0") // an attacker, or a careless release
	if err := update(t.Context(), w.file, io.Discard); err == nil || !strings.Contains(err.Error(), "a/one:v1.2.0") || !strings.Contains(err.Error(), "another image now") || w.text() != want {
		t.Errorf("a tag that moves: %v, %s", err, w.text())
	}
}

func TestMissingImagesDoNotHideOthers(t *testing.T) {
	w := newWorld(t, "const A = \"HOST/gone:v1\"\nconst B = \"HOST/there:v1\"\n")
	digest := w.push("there:v1")
	err := update(t.Context(), w.file, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "gone:v1") || !strings.Contains(w.text(), digest) {
		t.Errorf("%v, %s", err, w.text())
	}
}

func TestNewer(t *testing.T) {
	for tag, c := range map[string]struct{ tags, want []string }{
		"v0.18.0":       {[]string{"v0.9.0", "v0.18.0", "v0.18.1", "v0.20.0", "v0.19.0rc1", "latest", "v1"}, []string{"v0.18.1", "v0.20.0"}},
		"server-b10731": {[]string{"server-b9999", "server-b10732", "server-cuda-b10733", "light-b10740"}, []string{"server-b10732"}},
		"25.12-py3":     {[]string{"26.01-py3", "26.01-vllm-python-py3", "25.11-py3"}, []string{"26.01-py3"}},
	} {
		if got := newer(tag, c.tags); !slices.Equal(got, c.want) {
			t.Errorf("after %s: %v, want %v", tag, got, c.want)
		}
	}
}

// TestImagesHaveVersions holds that no image of an engine is the newest one of the day, and that
// the tool finds each of them in the file.
func TestImagesHaveVersions(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", file))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, parts := range constant.FindAllStringSubmatch(string(raw), -1) {
		if seen = append(seen, parts[2]); strings.HasSuffix(parts[2], ":latest") {
			t.Errorf("%s is another image each day", parts[2])
		}
	}
	if n := strings.Count(string(raw), " = \""); len(seen) != n-1 || !slices.Contains(seen, strings.Split(images.VLLM, "@")[0]) {
		t.Errorf("of %d images, one of which has no version, it finds %q", n, seen)
	}
}

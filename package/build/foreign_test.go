package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/engine/distributedllama"
)

// named finds images and packages: their names, tags and digests.
var named = regexp.MustCompile(`\b(?:ghcr\.io|docker\.io|xpkg\.crossplane\.io)/[\w./-]+:v?\d[\w.-]*(@sha256:[0-9a-f]{64})?`)

// foreign reads everything that names images, after a build with their digests.
func (p published) foreign(t *testing.T) {
	texts := map[string]string{}
	for _, path := range must(filepath.Glob(filepath.Join(p.files, "*.yaml")))(t) {
		if name := filepath.Base(path); name != "koldun-crds.yaml" { // its descriptions have examples
			texts[name] = string(p.read(t, name))
		}
	}
	for name, content := range untar(t, p.read(t, "koldun-1.2.3-rc.1.tgz")) {
		if filepath.Ext(name) == ".yaml" && !strings.Contains(name, "/crds/") {
			texts["chart: "+name] = string(content)
		}
	}
	function := content(t, p.pull(t, "ghcr.io/gorizond/koldun-function:"+version), entrypoint)
	if !strings.Contains(function, digest) {
		t.Error("the Function does not know the digest of the default image of rings")
	}
	program := untar(t, p.read(t, "koldun_1.2.3-rc.1_linux_"+runtime.GOARCH+".tar.gz"))["koldun"]
	// A program does not know the image that it gets into.
	texts["koldun render"] = strings.ReplaceAll(p.run(t, program, "render", "-f", "examples/quickstart/ring.yaml"), "ghcr.io/gorizond/koldun:"+version, "")
	found := map[string]int{}
	for name, text := range texts {
		for _, image := range named.FindAllStringSubmatch(withoutComments(text), -1) {
			if image[1] == "" {
				t.Errorf("%s names %s without its digest", name, image[0])
			}
			found[strings.TrimSuffix(image[0], "@"+digest)]++
		}
	}
	for _, image := range must(foreignImages(t.Context()))(t) {
		if found[image] == 0 {
			t.Errorf("no file names %s", image)
		}
	}
}

func withoutComments(text string) string {
	return regexp.MustCompile(`(?m)^\s*#.*$`).ReplaceAllString(text, "")
}

// untar returns the files of a compressed archive.
func untar(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	for r := tar.NewReader(must(gzip.NewReader(bytes.NewReader(archive)))(t)); ; {
		h, err := r.Next()
		if err != nil {
			return found
		}
		found[h.Name] = must(io.ReadAll(r))(t)
	}
}

// TestWithoutDigests holds that files stay as they are where no digest is known.
func TestWithoutDigests(t *testing.T) {
	b := versioned("v1.2.3")
	raw := string(must(os.ReadFile("../nats/servers.yaml"))(t))
	if got := b.pin(raw); got != raw {
		t.Errorf("the servers of NATS become %s", got)
	}
	b.foreign = map[string]string{"a/b:1": digest}
	if got, want := b.pin("- image: a/b:1\n  image: a/b:10\n"), "- image: a/b:1@"+digest+"\n  image: a/b:10\n"; got != want {
		t.Errorf("it becomes %q, want %q", got, want)
	}
}

func TestRefusedDigests(t *testing.T) {
	t.Chdir("../..")
	for given, want := range map[string]string{
		"docker.io/library/nats:1=" + digest:                      "a release names docker.io/library/nats:2",
		"docker.io/library/nats=" + digest:                        "a release names",
		distributedllama.Image + "=sha256:12":                     "64 hexadecimal digits",
		distributedllama.Image + "=" + strings.ToUpper(digest):    "64 hexadecimal digits",
		distributedllama.Image + "=" + digest + " -X main.a=evil": "64 hexadecimal digits",
	} {
		image, digest, _ := strings.Cut(given, "=")
		if err := checkDigests(t.Context(), map[string]string{image: digest}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %q", given, err, want)
		}
	}
}

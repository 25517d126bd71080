package cluster

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorizond/koldun/test/cluster/testpackage"
	"github.com/gorizond/koldun/test/waittest"
)

func TestRegistry(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "package.xpkg")
	if err := os.WriteFile(file, testpackage.Build("kind: Nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	img, err := readImage(file)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(registry{tags: map[string]map[string]*image{"some/where": {"v1.0.0": img, "v1.1.0": img}}})
	defer server.Close()

	cases := map[string]struct {
		path   string
		status int
	}{
		"Ping":              {"/v2/", http.StatusOK},
		"ManifestByTag":     {"/v2/some/where/manifests/v1.0.0", http.StatusOK},
		"ManifestByDigest":  {"/v2/some/where/manifests/" + img.digest, http.StatusOK},
		"UnknownTag":        {"/v2/some/where/manifests/v2.0.0", http.StatusNotFound},
		"UnknownRepository": {"/v2/else/where/manifests/v1.0.0", http.StatusNotFound},
		"UnknownBlob":       {"/v2/some/where/blobs/sha256:00", http.StatusNotFound},
		"Tags":              {"/v2/some/where/tags/list", http.StatusOK},
		"Nonsense":          {"/v2/x", http.StatusNotFound},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if status, _ := get(t, server.URL+tc.path); status != tc.status {
				t.Errorf("GET %s: %d, want %d", tc.path, status, tc.status)
			}
		})
	}

	_, raw := get(t, server.URL+"/v2/some/where/tags/list")
	var tags struct{ Tags []string }
	if err := json.Unmarshal(raw, &tags); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"v1.0.0", "v1.1.0"}, tags.Tags); diff != "" {
		t.Errorf("tags: -want +got\n%s", diff)
	}

	_, raw = get(t, server.URL+"/v2/some/where/manifests/v1.0.0")
	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	if err := json.Unmarshal(raw, &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest.Layers) != 1 || manifest.Layers[0].Annotations[layerLabel] != "base" {
		t.Fatalf("layers %+v, want one that is the package", manifest.Layers)
	}
	for _, d := range append(manifest.Layers, manifest.Config) {
		_, blob := get(t, server.URL+"/v2/some/where/blobs/"+d.Digest)
		if digest(blob) != d.Digest || len(blob) != d.Size {
			t.Errorf("blob %s has digest %s and %d bytes, want %d", d.Digest, digest(blob), len(blob), d.Size)
		}
	}
}

func TestInvalidImage(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "package.xpkg")
	if err := os.WriteFile(file, []byte("not an archive"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readImage(file); err == nil {
		t.Error("it was read")
	}
	if _, err := readImage(file + ".missing"); err == nil {
		t.Error("a missing file was read")
	}
}

func get(t *testing.T, url string) (int, []byte) {
	t.Helper()
	rsp, err := waittest.Client().Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer rsp.Body.Close() //nolint:errcheck // it was only read
	raw, err := io.ReadAll(rsp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return rsp.StatusCode, raw
}

package cluster

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/gorizond/koldun/test/cluster/testpackage"
	"github.com/gorizond/koldun/test/waittest"
)

func TestRegistry(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "package.xpkg")
	if err := os.WriteFile(file, testpackage.Build("kind: Nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	digest, err := PackageDigest(file)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(newRegistry())
	defer server.Close()
	for _, version := range []string{"v1.0.0", "v1.1.0"} {
		published, err := name.NewTag("packages.example.org/some/where:" + version)
		if err != nil {
			t.Fatal(err)
		}
		if err := push(t.Context(), server.Listener.Addr().String(), published, file); err != nil {
			t.Fatal(err)
		}
	}

	cases := map[string]struct {
		path   string
		status int
	}{
		"Ping":              {"/v2/", http.StatusOK},
		"ManifestByTag":     {"/v2/some/where/manifests/v1.0.0", http.StatusOK},
		"ManifestByDigest":  {"/v2/some/where/manifests/" + digest, http.StatusOK},
		"UnknownTag":        {"/v2/some/where/manifests/v2.0.0", http.StatusNotFound},
		"UnknownRepository": {"/v2/else/where/manifests/v1.0.0", http.StatusNotFound},
		"UnknownBlob":       {"/v2/some/where/blobs/sha256:" + strings.Repeat("0", 64), http.StatusNotFound},
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
		Config v1.Descriptor
		Layers []v1.Descriptor
	}
	if err := json.Unmarshal(raw, &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest.Layers) != 1 || manifest.Layers[0].Annotations[layerLabel] != "base" {
		t.Fatalf("layers %+v, want one that is the package", manifest.Layers)
	}
	for _, d := range append(manifest.Layers, manifest.Config) {
		_, blob := get(t, server.URL+"/v2/some/where/blobs/"+d.Digest.String())
		if got := fmt.Sprintf("sha256:%x", sha256.Sum256(blob)); got != d.Digest.String() || int64(len(blob)) != d.Size {
			t.Errorf("blob %s has digest %s and %d bytes, want %d", d.Digest, got, len(blob), d.Size)
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

package main

import (
	"archive/tar"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// TestImage reads images as Crossplane and container runtimes do.
func TestImage(t *testing.T) {
	s := source{version: "v1.2.3", commit: "abc", date: time.Unix(1_000_000_000, 0).UTC()}
	for name, c := range map[string]struct {
		binary, objects []byte
		entrypoint      []string
	}{
		"Objects": {nil, []byte("---\n" + description), nil},
		"Runs":    {[]byte("ELF"), []byte("---\n" + description), []string{"/koldun"}},
		"Plain":   {[]byte("ELF"), nil, []string{"/koldun"}},
	} {
		t.Run(name, func(t *testing.T) {
			i := must(oneImage(s, "arm64", c.binary, c.objects))(t)
			config := must(i.ConfigFile())(t)
			labels := config.Config.Labels
			if config.Architecture != "arm64" || config.OS != "linux" || !slices.Equal(config.Config.Entrypoint, c.entrypoint) || !config.Created.Equal(s.date) ||
				labels["org.opencontainers.image.version"] != "v1.2.3" || labels["org.opencontainers.image.revision"] != "abc" {
				t.Errorf("the configuration is %+v", config)
			}
			layers := must(i.Manifest())(t).Layers
			if c.objects == nil {
				return
			}
			last := layers[len(layers)-1]
			if last.Annotations[layerKind] != "base" || labels[layerKind+":"+last.Digest.String()] != "base" {
				t.Errorf("nothing marks the layer of the package: %+v, %v", last, labels)
			}
			if got := content(t, i, packageFile); got != string(c.objects) {
				t.Errorf("the package is %q", got)
			}
			saved := filepath.Join(t.TempDir(), "a.xpkg")
			if err := saveImage(saved, i); err != nil {
				t.Fatal(err)
			}
			if got := content(t, must(tarball.ImageFromPath(saved, nil))(t), packageFile); got != string(c.objects) {
				t.Errorf("the package in the format of docker save is %q", got)
			}
		})
	}
}

// TestLayout writes the images of a repository twice.
func TestLayout(t *testing.T) {
	var before string
	for range 2 {
		images := map[string]v1.Image{}
		for _, arch := range []string{"arm64", "amd64"} {
			images[arch] = must(oneImage(source{version: "v1.2.3"}, arch, []byte("ELF "+arch), nil))(t)
		}
		folder := filepath.Join(t.TempDir(), "koldun")
		digest := must(saveLayout(folder, source{version: "v1.2.3"}, images))(t)
		if before != "" && digest != before {
			t.Errorf("the same images have the digests %s and %s", before, digest)
		}
		before = digest
		index := must(must(layout.ImageIndexFromPath(folder))(t).IndexManifest())(t)
		if len(index.Manifests) != 1 || index.Manifests[0].Digest.String() != digest || !index.Manifests[0].MediaType.IsIndex() {
			t.Fatalf("the layout has %+v, want the list %s alone, as crane push expects", index.Manifests, digest)
		}
		list := must(must(must(layout.ImageIndexFromPath(folder))(t).ImageIndex(index.Manifests[0].Digest))(t).IndexManifest())(t)
		for i, arch := range []string{"amd64", "arm64"} {
			if p := list.Manifests[i].Platform; p.Architecture != arch || p.OS != "linux" {
				t.Errorf("image %d is for %s", i, p)
			}
		}
	}
}

// content returns a file of an image.
func content(t *testing.T, i v1.Image, name string) string {
	t.Helper()
	for _, l := range must(i.Layers())(t) {
		for r := tar.NewReader(must(l.Uncompressed())(t)); ; {
			h, err := r.Next()
			if err != nil {
				break
			}
			if h.Name == name {
				return string(must(io.ReadAll(r))(t))
			}
		}
	}
	t.Fatalf("the image has no file %q", name)
	return ""
}

// must returns a value, and fails the test if there is an error.
func must[V any](v V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

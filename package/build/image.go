package main

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// packageFile is the file of a package that Crossplane reads.
	packageFile = "package.yaml"
	// entrypoint is the path of the binary in an image.
	entrypoint = "koldun"
	// layerKind is the annotation that names the kind of a package's layer, and the
	// prefix of the label that does so in the format of docker save, which has no
	// annotations.
	layerKind = "io.crossplane.xpkg"
	// user is the uid and gid of "nonroot" in images without a base.
	user = "65532:65532"
)

// A source is what images say that they were made of.
type source struct {
	version, commit string
	date            time.Time
}

// labels returns the labels of the OCI image specification.
func (s source) labels() map[string]string {
	out := map[string]string{
		"org.opencontainers.image.source":   "https://github.com/gorizond/koldun",
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
	for name, value := range map[string]string{"version": s.version, "revision": s.commit} {
		if value != "" {
			out["org.opencontainers.image."+name] = value
		}
	}
	return out
}

// oneImage returns an image of Linux on arch, which runs a binary, holds the objects of a
// package, or both.
func oneImage(s source, arch string, binary, objects []byte) (v1.Image, error) {
	config := v1.Config{Labels: s.labels()}
	var layers []mutate.Addendum
	if binary != nil {
		config.Entrypoint, config.User = []string{"/" + entrypoint}, user
		l, err := oneFile(entrypoint, binary, 0o755)
		if err != nil {
			return nil, err
		}
		layers = append(layers, mutate.Addendum{Layer: l})
	}
	if objects != nil {
		l, err := oneFile(packageFile, objects, 0o644)
		if err != nil {
			return nil, err
		}
		digest, err := l.Digest()
		if err != nil {
			return nil, err
		}
		config.Labels[layerKind+":"+digest.String()] = "base"
		layers = append(layers, mutate.Addendum{Layer: l, Annotations: map[string]string{layerKind: "base"}})
	}
	image, err := mutate.ConfigFile(
		mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON),
		&v1.ConfigFile{OS: "linux", Architecture: arch, Created: v1.Time{Time: s.date}, Config: config, RootFS: v1.RootFS{Type: "layers"}},
	)
	if err != nil {
		return nil, err
	}
	return mutate.Append(image, layers...)
}

// oneFile returns a layer of one file, without owner and time.
func oneFile(name string, content []byte, mode int64) (v1.Layer, error) {
	var raw bytes.Buffer
	w := tar.NewWriter(&raw)
	if err := w.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(content)), Typeflag: tar.TypeReg}); err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(raw.Bytes())), nil
	}, tarball.WithCompressedCaching, tarball.WithMediaType(types.OCILayer))
}

// saveImage writes an image in the format of docker save.
func saveImage(path string, i v1.Image) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return tarball.WriteToFile(path, nil, i)
}

// saveLayout writes the images of one repository, by architecture, as an OCI image
// layout, and returns the digest under which a registry has them: that of the list, or
// of the image if it is alone and for every architecture.
func saveLayout(folder string, s source, images map[string]v1.Image) (string, error) {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return "", err
	}
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return "", err
	}
	if one, ok := images[""]; ok {
		if err := path.AppendImage(one); err != nil {
			return "", err
		}
		digest, err := one.Digest()
		return digest.String(), err
	}
	list := manifestList(s, images)
	if err := path.AppendIndex(list); err != nil {
		return "", err
	}
	digest, err := list.Digest()
	return digest.String(), err
}

// manifestList joins the images of all architectures.
func manifestList(s source, images map[string]v1.Image) v1.ImageIndex {
	var all []mutate.IndexAddendum
	for _, arch := range sorted(images) {
		all = append(all, mutate.IndexAddendum{Add: images[arch], Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: "linux", Architecture: arch},
		}})
	}
	list := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), all...)
	annotated, _ := mutate.Annotations(list, s.labels()).(v1.ImageIndex)
	return annotated
}

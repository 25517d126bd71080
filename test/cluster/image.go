package cluster

import (
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layerLabel is the prefix of the labels with which the configuration of a package
// describes its layers. A registry uses annotations of the layers instead.
const layerLabel = "io.crossplane.xpkg"

// readImage reads a file as written by `docker save` and `crossplane xpkg build`, as a
// registry serves it.
func readImage(path string) (v1.Image, error) {
	image, err := annotated(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read image %q: %w", path, err)
	}
	return image, nil
}

func annotated(path string) (v1.Image, error) {
	from, err := tarball.ImageFromPath(path, nil)
	if err != nil {
		return nil, err
	}
	config, err := from.ConfigFile()
	if err != nil {
		return nil, err
	}
	layers, err := from.Layers()
	if err != nil {
		return nil, err
	}
	var added []mutate.Addendum
	for _, layer := range layers {
		digest, err := layer.Digest()
		if err != nil {
			return nil, err
		}
		a := mutate.Addendum{Layer: layer, MediaType: types.OCILayer}
		if kind := config.Config.Labels[layerLabel+":"+digest.String()]; kind != "" {
			a.Annotations = map[string]string{layerLabel: kind}
		}
		added = append(added, a)
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, added...)
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, config)
}

// PackageDigest returns the digest of a package file in the registry of
// [Cluster.ServePackages].
func PackageDigest(path string) (string, error) {
	image, err := readImage(path)
	if err != nil {
		return "", err
	}
	digest, err := image.Digest()
	return digest.String(), err
}

package cluster

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
)

// Media types of an image. The layers of a package are compressed.
const (
	mediaTypeManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaTypeConfig   = "application/vnd.oci.image.config.v1+json"
	mediaTypeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// layerLabel is the prefix of the labels with which the configuration of a package
// describes its layers. A registry uses annotations of the layers instead.
const layerLabel = "io.crossplane.xpkg"

// An image is a container image as a registry serves it.
type image struct {
	manifest  []byte
	mediaType string
	digest    string            // of manifest
	blobs     map[string][]byte // by digest
}

// A descriptor is a descriptor of the OCI image specification.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// readImage reads a file as written by `docker save` and `crossplane xpkg build`: a
// tar archive with manifest.json, a configuration and layers.
func readImage(path string) (*image, error) {
	files, err := readTar(path)
	if err != nil {
		return nil, err
	}
	var list []struct {
		Config string
		Layers []string
	}
	if err := json.Unmarshal(files["manifest.json"], &list); err != nil {
		return nil, fmt.Errorf("cannot parse manifest.json of %q: %w", path, err)
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("cannot read %q: it contains %d images, want one", path, len(list))
	}
	var config struct {
		Config struct {
			Labels map[string]string
		} `json:"config"`
	}
	if err := json.Unmarshal(files[list[0].Config], &config); err != nil {
		return nil, fmt.Errorf("cannot parse configuration of %q: %w", path, err)
	}
	img := &image{mediaType: mediaTypeManifest, blobs: map[string][]byte{}}
	var layers []descriptor
	for _, name := range list[0].Layers {
		blob, ok := files[name]
		if !ok {
			return nil, fmt.Errorf("cannot read %q: layer %q is missing", path, name)
		}
		d := img.add(mediaTypeLayer, blob)
		if kind := config.Config.Labels[layerLabel+":"+d.Digest]; kind != "" {
			d.Annotations = map[string]string{layerLabel: kind}
		}
		layers = append(layers, d)
	}
	img.manifest, err = json.Marshal(map[string]any{
		"schemaVersion": 2,
		"mediaType":     mediaTypeManifest,
		"config":        img.add(mediaTypeConfig, files[list[0].Config]),
		"layers":        layers,
	})
	img.digest = digest(img.manifest)
	return img, err
}

func (i *image) add(mediaType string, blob []byte) descriptor {
	d := digest(blob)
	i.blobs[d] = blob
	return descriptor{MediaType: mediaType, Digest: d, Size: len(blob)}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func readTar(path string) (map[string][]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	files := map[string][]byte{}
	for archive := tar.NewReader(f); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read archive %q: %w", path, err)
		}
		if files[h.Name], err = io.ReadAll(archive); err != nil {
			return nil, fmt.Errorf("cannot read %q in archive %q: %w", h.Name, path, err)
		}
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client has disconnected
}

func write(w http.ResponseWriter, mediaType, digest string, body []byte) {
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Docker-Content-Digest", digest)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the client has disconnected
}

// PackageDigest returns the digest of a package file in the registry of
// [Cluster.ServePackages].
func PackageDigest(path string) (string, error) {
	img, err := readImage(path)
	if err != nil {
		return "", err
	}
	return img.digest, nil
}

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
)

const (
	// packageFile is the file of a package that Crossplane reads.
	packageFile = "package.yaml"
	// entrypoint is the path of the binary in an image.
	entrypoint = "koldun"
	// labelPrefix is the prefix of the labels that name the kind of a package's layer.
	labelPrefix = "io.crossplane.xpkg:"
	// user is the uid and gid of "nonroot" in images without a base.
	user = "65532:65532"
)

// A layer of an image: a compressed archive of one file.
type layer struct {
	blob   []byte
	diffID string // digest of the archive before compression
	kind   string // kind of the layer for Crossplane
}

// pack returns a layer of one file, without owner and time.
func pack(name string, content []byte, mode int64) (layer, error) {
	raw, err := archive(map[string][]byte{name: content}, mode)
	if err != nil {
		return layer{}, err
	}
	var blob bytes.Buffer
	z := gzip.NewWriter(&blob)
	if _, err := z.Write(raw); err != nil {
		return layer{}, err
	}
	if err := z.Close(); err != nil {
		return layer{}, err
	}
	return layer{blob: blob.Bytes(), diffID: digest(raw)}, nil
}

// An image of one architecture.
type image struct {
	arch   string
	layers []layer
	run    bool // whether the image has the entry point
	tag    string
}

// archive returns the image in the format of docker save.
func (i image) archive() ([]byte, error) {
	labels := map[string]string{}
	files := map[string][]byte{}
	var diffIDs, names []string
	for _, l := range i.layers {
		sum := digest(l.blob)
		if l.kind != "" {
			labels[labelPrefix+sum] = l.kind
		}
		name := sum[len("sha256:"):] + ".tar.gz"
		files[name] = l.blob
		diffIDs, names = append(diffIDs, l.diffID), append(names, name)
	}
	config := map[string]any{"Labels": labels}
	if i.run {
		config["Entrypoint"], config["User"] = []string{"/" + entrypoint}, user
	}
	raw, err := json.Marshal(map[string]any{
		"architecture": i.arch,
		"os":           "linux",
		"config":       config,
		"rootfs":       map[string]any{"type": "layers", "diff_ids": diffIDs},
	})
	if err != nil {
		return nil, err
	}
	name := digest(raw)
	files[name] = raw
	tags := []string{}
	if i.tag != "" {
		tags = append(tags, i.tag)
	}
	if files["manifest.json"], err = json.Marshal([]any{map[string]any{"Config": name, "RepoTags": tags, "Layers": names}}); err != nil {
		return nil, err
	}
	return archive(files, 0o644)
}

// archive returns a tar archive with sorted files and without times, so that
// the same files give the same bytes.
func archive(files map[string][]byte, mode int64) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(files[name])), Typeflag: tar.TypeReg}); err != nil {
			return nil, err
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

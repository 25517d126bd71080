// Package testpackage builds small package files for the tests of the test
// cluster.
package testpackage

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Build returns a package file with these YAML documents: an image archive with one
// layer that contains package.yaml.
func Build(yaml string) []byte {
	content := archive(map[string][]byte{"package.yaml": []byte(yaml)})
	var layer bytes.Buffer
	z := gzip.NewWriter(&layer)
	_, _ = z.Write(content) // writes to a buffer do not fail
	_ = z.Close()

	name := digest(layer.Bytes())
	config := encode(map[string]any{
		"architecture": "amd64",
		"os":           "linux",
		"config":       map[string]any{"Labels": map[string]string{"io.crossplane.xpkg:sha256:" + name: "base"}},
		"rootfs":       map[string]any{"type": "layers", "diff_ids": []string{"sha256:" + digest(content)}},
	})
	return archive(map[string][]byte{
		"config.json":    config,
		name + ".tar.gz": layer.Bytes(),
		"manifest.json":  encode([]any{map[string]any{"Config": "config.json", "Layers": []string{name + ".tar.gz"}}}),
	})
}

func archive(files map[string][]byte) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, data := range files {
		_ = w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data)), Typeflag: tar.TypeReg})
		_, _ = w.Write(data) // writes to a buffer do not fail
	}
	_ = w.Close()
	return b.Bytes()
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func encode(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and lists always encode
	}
	return raw
}

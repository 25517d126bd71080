package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const description = "apiVersion: meta.pkg.crossplane.io/v1\nkind: Configuration\nmetadata: {name: a}\n"

func TestPackage(t *testing.T) {
	stage, binary := stageOf(t, map[string]string{"crossplane.yaml": description, "z/definition.yaml": "kind: CompositeResourceDefinition", "a.yaml": "kind: Composition"}), ""
	t.Run("Objects", func(t *testing.T) {
		check(t, build(t, PackageCmd{Stage: stage, Binary: binary, Arch: "amd64"}), "amd64", nil)
	})
	binary = filepath.Join(t.TempDir(), "binary")
	if err := os.WriteFile(binary, []byte("ELF"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("Runs", func(t *testing.T) {
		check(t, build(t, PackageCmd{Stage: stage, Binary: binary, Arch: "arm64"}), "arm64", []string{"/koldun"})
	})
	t.Run("SameBytes", func(t *testing.T) {
		c := PackageCmd{Stage: stage, Binary: binary, Arch: "amd64"}
		if !bytes.Equal(build(t, c), build(t, c)) {
			t.Error("the same input results in different bytes")
		}
	})
}

func TestPackageRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"NoDescription": {map[string]string{"a.yaml": "kind: Composition"}, "crossplane.yaml"},
		"NoPackage":     {map[string]string{"crossplane.yaml": "apiVersion: v1\nkind: Secret"}, "not the description"},
		"ForeignKind":   {map[string]string{"crossplane.yaml": description, "a.yaml": "kind: Secret"}, "must not hold a Secret"},
		"ForeignFile":   {map[string]string{"crossplane.yaml": description, "key.pem": "x"}, "only YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := stream(stageOf(t, c.files))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("stream: got %v, want %q in it", err, c.want)
			}
		})
	}
}

func stageOf(t *testing.T, files map[string]string) string {
	t.Helper()
	stage := t.TempDir()
	for name, content := range files {
		path := filepath.Join(stage, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return stage
}

func build(t *testing.T, c PackageCmd) []byte {
	t.Helper()
	c.Out = filepath.Join(t.TempDir(), "out.xpkg")
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(c.Out)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// check reads the package as a registry client does.
func check(t *testing.T, raw []byte, arch string, entrypoint []string) {
	t.Helper()
	files := untar(t, raw)
	var manifest []struct {
		Config string
		Layers []string
	}
	if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	var config struct {
		Architecture string `json:"architecture"`
		Config       struct {
			Labels     map[string]string
			Entrypoint []string
			User       string
		} `json:"config"`
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
	if err := json.Unmarshal(files[manifest[0].Config], &config); err != nil {
		t.Fatal(err)
	}
	if config.Architecture != arch || len(config.Config.Entrypoint) != len(entrypoint) {
		t.Errorf("the configuration is %+v, want architecture %s and entry point %v", config, arch, entrypoint)
	}
	for i, name := range manifest[0].Layers {
		blob := files[name]
		z, err := gzip.NewReader(bytes.NewReader(blob))
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if digest(content) != config.RootFS.DiffIDs[i] {
			t.Errorf("digest of layer %d differs from that in the configuration", i)
		}
		if config.Config.Labels[labelPrefix+digest(blob)] != "base" {
			continue
		}
		objects := string(untar(t, content)["package.yaml"])
		if !strings.HasPrefix(objects, "---\n"+description) || strings.Count(objects, "---\n") != 3 {
			t.Errorf("got package.yaml %q", objects)
		}
		return
	}
	t.Error("no layer holds the package")
}

func untar(t *testing.T, raw []byte) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(raw)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if out[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

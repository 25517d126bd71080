package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// metaFile describes a package.
const metaFile = "crossplane.yaml"

// kinds that a package of a kind may hold, as Crossplane's linter has it.
func kinds() map[string][]string {
	return map[string][]string{
		"Configuration": {"CompositeResourceDefinition", "Composition"},
		"Function":      {"CustomResourceDefinition"},
		"Provider":      {"CustomResourceDefinition"},
	}
}

// stream joins the objects of a folder: its description first, the others by
// their paths. What a package of its kind may not hold is an error.
func stream(folder string) ([]byte, error) {
	var paths []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if filepath.Ext(path) != ".yaml" {
			return fmt.Errorf("cannot pack %q: only YAML belongs into a package", path)
		}
		if path != filepath.Join(folder, metaFile) {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var out bytes.Buffer
	var allowed []string
	for i, path := range append([]string{filepath.Join(folder, metaFile)}, paths...) {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var head struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if err := yaml.Unmarshal(raw, &head); err != nil {
			return nil, fmt.Errorf("cannot read %q: %w", path, err)
		}
		switch {
		case i == 0 && strings.HasPrefix(head.APIVersion, "meta.pkg.crossplane.io/"):
			allowed = kinds()[head.Kind]
		case i == 0:
			return nil, fmt.Errorf("cannot pack %q: it is not the description of a package", path)
		case !slices.Contains(allowed, head.Kind):
			return nil, fmt.Errorf("cannot pack %q: the package must not hold a %s", path, head.Kind)
		}
		out.WriteString("---\n")
		out.Write(bytes.TrimSpace(raw))
		out.WriteString("\n")
	}
	return out.Bytes(), nil
}

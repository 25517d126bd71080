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

// metaFile is the name of the file that describes a package.
const metaFile = "crossplane.yaml"

// kinds returns the kinds of objects that each kind of package may hold by
// Crossplane's linter.
func kinds() map[string][]string {
	return map[string][]string{
		"Configuration": {"CompositeResourceDefinition", "Composition"},
		"Function":      {"CustomResourceDefinition"},
		"Provider":      {"CustomResourceDefinition"},
	}
}

// stream joins the objects of a folder: first the metaFile, then the others
// ordered by path. It returns an error for an object that the package may not
// hold.
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

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// A recipe is what a Crossplane package consists of. Its paths are below the root of the
// repository.
type recipe struct {
	meta    string // file that describes the package
	files   string // pattern of the objects in it; empty for none
	program string // folder of the program that it runs; empty for none
}

func recipes() map[string]recipe {
	return map[string]recipe{
		"koldun-function":             {meta: "package/function/crossplane.yaml", program: "functions"},
		"koldun-provider":             {meta: "package/provider/crossplane.yaml", files: "apis/crds/koldun.m.gorizond.io_*.yaml", program: "provider"},
		"koldun-configuration":        {meta: "crossplane.yaml", files: "package/configuration/*/*.yaml"},
		"koldun-configuration-claims": {meta: "package/configuration-claims/crossplane.yaml", files: "package/configuration-claims/*/*.yaml"},
	}
}

// kinds returns the kinds of objects that each kind of package may hold by
// Crossplane's linter.
func kinds() map[string][]string {
	return map[string][]string{
		"Configuration": {"CompositeResourceDefinition", "Composition"},
		"Function":      {"CustomResourceDefinition"},
		"Provider":      {"CustomResourceDefinition"},
	}
}

// objects joins the objects of a package: first its description, then the others
// ordered by path, each changed by edit. It returns an error for an object that the
// package may not hold.
func (r recipe) objects(root string, edit func(string) string) ([]byte, error) {
	paths := []string{filepath.Join(root, r.meta)}
	if r.files != "" {
		found, err := filepath.Glob(filepath.Join(root, r.files))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("cannot pack %q: no file matches it", r.files)
		}
		slices.Sort(found)
		paths = append(paths, found...)
	}
	var out bytes.Buffer
	var allowed []string
	for i, path := range paths {
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
		out.WriteString(edit(strings.TrimSpace(string(raw))))
		out.WriteString("\n")
	}
	return out.Bytes(), nil
}

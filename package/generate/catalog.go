package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const (
	catalogFolder = "package/catalog"
	// functionPackage is the repository of the Function's package.
	functionPackage = "ghcr.io/gorizond/koldun-function"
	// versionLabel is the label of the objects of a version in the catalogue.
	versionLabel = group + "/version"
)

// release returns the entry of a version in the catalogue: for each flavour, the
// Function of the version, by digest, and a Composition of each kind, which calls it.
// Published entries never change, so a version has at most one.
func release(version, digest string) func(root string) (map[string][]byte, error) {
	return func(root string) (map[string][]byte, error) {
		if !regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9a-z.-]*[0-9a-z])?$`).MatchString(version) {
			return nil, fmt.Errorf("cannot add version %q to the catalogue: it is not vMAJOR.MINOR.PATCH", version)
		}
		if !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(digest) {
			return nil, fmt.Errorf("cannot add version %q to the catalogue: digest %q of %s is not sha256: and 64 hex digits", version, digest, functionPackage)
		}
		folder := filepath.Join(catalogFolder, version)
		if _, err := os.Stat(filepath.Join(root, folder)); err == nil { //nolint:gosec // the version has no path
			return nil, fmt.Errorf("cannot add version %q to the catalogue: %s exists, and published versions never change", version, folder)
		}
		crds, err := readCRDs(filepath.Join(root, "apis", "crds"))
		if err != nil {
			return nil, err
		}
		files := map[string][]byte{}
		for _, f := range flavours() {
			if files[filepath.Join(folder, f.entry()+".yaml")], err = f.release(version, digest, crds); err != nil {
				return nil, err
			}
		}
		return files, nil
	}
}

// entry is the name of a flavour's file in the catalogue.
func (f flavour) entry() string {
	if f.claims {
		return "claims"
	}
	return "namespaced"
}

// release returns the objects of a version. They run beside those of the
// Configuration, which follow its updates.
func (f flavour) release(version, digest string, crds []extv1.CustomResourceDefinition) ([]byte, error) {
	suffix := "-" + strings.ReplaceAll(version, ".", "-")
	function := functionName + suffix
	objects := []any{object{
		"apiVersion": "pkg.crossplane.io/v1",
		"kind":       "Function",
		"metadata":   object{"name": function, "labels": object{versionLabel: version}},
		// The resolver of dependencies allows one Function of a repository.
		"spec": object{"package": functionPackage + "@" + digest, "skipDependencyResolution": true},
	}}
	for _, crd := range crds {
		c := f.composition(crd)
		meta := c["metadata"].(object)
		meta["name"] = compositionName(crd) + suffix
		meta["labels"].(object)[versionLabel] = version
		c["spec"].(object)["pipeline"] = []any{object{"step": "koldun", "functionRef": object{"name": function}}}
		objects = append(objects, c)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Koldun %s. Published: make catalog-check refuses any change.\n", version)
	for i, o := range objects {
		raw, err := yaml.Marshal(o)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(raw)
	}
	return out.Bytes(), nil
}

// Command generate writes what follows from the Go types: the XRDs and
// Compositions of both configuration packages, the lists of reasons, kinds and metrics, the rights of
// roles on NATS, the methods of managed resources, the values of the chart, and Argo CD's health
// scripts and example.
//
// Run it from the root of the repository: as "generate engines" before
// controller-gen writes the CRDs, which need the names of engines, and without
// an argument after it. "release VERSION DIGEST" adds a version to the catalogue.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
)

func main() {
	files := generate
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == "engines":
		files = func(string) (map[string][]byte, error) { return map[string][]byte{enginesFile: engines()}, nil }
	case len(args) == 3 && args[0] == "release":
		files = release(args[1], args[2])
	case len(args) > 0:
		fmt.Fprintln(os.Stderr, "usage: generate [engines | release VERSION DIGEST]")
		os.Exit(2)
	}
	if err := write(".", files); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// write writes generated files below root.
func write(root string, generate func(root string) (map[string][]byte, error)) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil { //nolint:gosec // a file of the repository
			return err
		}
	}
	return nil
}

// generate returns all generated files by their paths below root.
func generate(root string) (map[string][]byte, error) {
	files := map[string][]byte{enginesFile: engines()}
	crds, err := readCRDs(filepath.Join(root, "apis", "crds"))
	if err != nil {
		return nil, err
	}
	for _, crd := range crds {
		for _, f := range flavours() {
			xrd, err := marshal(f.definition(crd))
			if err != nil {
				return nil, err
			}
			composition, err := marshal(f.composition(crd))
			if err != nil {
				return nil, err
			}
			folder := filepath.Join("package", f.folder, crd.Spec.Names.Plural)
			files[filepath.Join(folder, "definition.yaml")] = xrd
			files[filepath.Join(folder, "composition.yaml")] = composition
		}
	}
	why, err := readReasons(root)
	if err != nil {
		return nil, err
	}
	if files["docs/reference/reasons.md"], err = reasons(why); err != nil {
		return nil, err
	}
	files["docs/reference/troubleshooting.md"] = troubleshooting()
	if files[argocdApp], err = argocdInstall(root); err != nil {
		return nil, err
	}
	files["docs/reference/roles.md"] = roles()
	files["docs/reference/rights.md"] = rights()
	if files[apiFile], err = apiDocs(root); err != nil {
		return nil, err
	}
	if files[metricsFile], err = metricDocs(root); err != nil {
		return nil, err
	}
	if files[kindsFile], err = kindDocs(root); err != nil {
		return nil, err
	}
	if files[managedFolder+"/zz_generated.managed.go"], err = managed(root); err != nil {
		return nil, err
	}
	ofChart, err := chart(root)
	if err != nil {
		return nil, err
	}
	maps.Copy(files, ofChart)
	if err := argocd(root, crds, finals(why), files); err != nil {
		return nil, err
	}
	return files, nil
}

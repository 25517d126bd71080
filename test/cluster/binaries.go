package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Programs of a cluster.
const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	crossplane        = "crossplane"
)

// errMissing is the error for a program that is not built.
var errMissing = errors.New("not built; run: make cluster-binaries") //nolint:gochecknoglobals // a sentinel

// binaries returns the folder of the programs: $KOLDUN_BIN, or bin/ of the repository
// of the test.
func binaries() (string, error) {
	dir := os.Getenv("KOLDUN_BIN")
	if dir == "" {
		root, err := Repository()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, "bin")
	}
	for _, name := range []string{etcd, apiServer, controllerManager, crossplane, crossplane + ".d/crds"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return "", fmt.Errorf("cannot find program %q in %s: %w", name, dir, errMissing)
		}
	}
	return dir, nil
}

// Repository returns the nearest parent folder with a Makefile and a go.mod.
func Repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		_, noModule := os.Stat(filepath.Join(dir, "go.mod"))
		_, noMake := os.Stat(filepath.Join(dir, "Makefile"))
		if noModule == nil && noMake == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("cannot find the repository above the test: %w", errMissing)
		}
		dir = parent
	}
}

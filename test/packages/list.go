package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
)

// cluster is the package whose users start a control plane.
const cluster = "github.com/gorizond/koldun/test/cluster"

// A pkg is what go list prints of a package.
type pkg struct {
	Dir, ImportPath                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string

	deps map[string]*pkg // all listed packages by their path
}

// list returns the packages of a pattern, in the order of go list.
func list(pattern string) ([]*pkg, error) {
	cmd := exec.Command("go", "list", "-json=Dir,ImportPath,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", pattern)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot list packages: %w\n%s", err, errs.Bytes())
	}
	var all []*pkg
	deps := map[string]*pkg{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &pkg{deps: deps}
		switch err := d.Decode(p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("cannot read list of packages: %w", err)
		}
		all, deps[p.ImportPath] = append(all, p), p
	}
}

func (p *pkg) tested() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// startsCluster reports whether the tests import the package cluster, or belong to it.
func (p *pkg) startsCluster() bool {
	seen := map[string]bool{}
	queue := slices.Concat([]string{p.ImportPath}, p.TestImports, p.XTestImports)
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		if path == cluster {
			return true
		}
		if d := p.deps[path]; d != nil && !seen[path] {
			seen[path] = true
			queue = append(queue, d.Imports...)
		}
	}
	return false
}

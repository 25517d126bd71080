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

	deps map[string]*pkg // packages of the module by their path
}

// list returns the packages of the patterns, in the order of go list.
func list(patterns []string) ([]*pkg, error) {
	wanted, err := goList(patterns...)
	if err != nil {
		return nil, err
	}
	module, err := goList("./...")
	if err != nil {
		return nil, err
	}
	deps := map[string]*pkg{}
	for _, p := range module {
		deps[p.ImportPath] = p
	}
	for _, p := range wanted {
		p.deps = deps
	}
	return wanted, nil
}

func goList(patterns ...string) ([]*pkg, error) {
	cmd := exec.Command("go", append([]string{"list", "-json=Dir,ImportPath,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports"}, patterns...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot list packages: %w\n%s", err, errs.Bytes())
	}
	var all []*pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &pkg{}
		switch err := d.Decode(p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("cannot read list of packages: %w", err)
		}
		all = append(all, p)
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

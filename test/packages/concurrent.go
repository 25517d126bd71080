package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// concurrent reports whether the race detector can find anything in the package's own code
// and tests.
func (p *pkg) concurrent() (bool, error) {
	for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return false, fmt.Errorf("cannot parse a file of package %q: %w", p.ImportPath, err)
		}
		if concurrent(file) {
			return true, nil
		}
	}
	return false, nil
}

// concurrent reports whether a file starts goroutines, uses channels, locks, or runs tests
// in parallel.
func concurrent(file *ast.File) bool {
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
			found = true
		case *ast.ImportSpec:
			path := strings.Trim(n.Path.Value, `"`)
			found = found || path == "sync" || path == "sync/atomic" || strings.HasPrefix(path, "golang.org/x/sync/")
		case *ast.SelectorExpr:
			found = found || n.Sel.Name == "Parallel" // of testing.T
		}
		return !found
	})
	return found
}

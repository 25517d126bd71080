package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// httpServers is the one package that may serve HTTP: its servers have timeouts and
// bounds, and refuse other hosts and pages of other sites.
const httpServers = "internal/network/httpserver"

// TestServersPassTheGuard finds HTTP servers beside httpserver.Serve in our programs.
func TestServersPassTheGuard(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := 0
	for _, folder := range []string{"apis", "cmd", "functions", "internal", "provider", "terraform-provider"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, found := range servers(f) {
				if rel, _ := filepath.Rel(root, filepath.Dir(path)); filepath.ToSlash(rel) == httpServers {
					seen++
					continue
				}
				t.Errorf("%s uses http.%s: serve with %s.Serve, which refuses requests of strangers", path, found, httpServers)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen == 0 {
		t.Errorf("%s has no server: the test looks for the wrong names", httpServers)
	}
}

// servers returns the names with which a file makes HTTP servers.
func servers(f *ast.File) []string {
	name := ""
	for _, i := range f.Imports {
		if i.Path.Value == `"net/http"` {
			name = "http"
			if i.Name != nil {
				name = i.Name.Name
			}
		}
	}
	var found []string
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		of, ok := s.X.(*ast.Ident)
		if ok && of.Name == name && slices.Contains([]string{"Server", "Serve", "ServeTLS", "ListenAndServe", "ListenAndServeTLS"}, s.Sel.Name) {
			found = append(found, s.Sel.Name)
		}
		return true
	})
	return found
}

func TestServersAreFound(t *testing.T) {
	for code, want := range map[string]int{
		`import "net/http"; var s = &http.Server{}`:                      1,
		`import "net/http"; func f() { http.ListenAndServe(":1", nil) }`: 1,
		`import web "net/http"; func f() { web.Serve(nil, nil) }`:        1,
		`import "net/http"; var c = &http.Client{}`:                      0,
		`import http "example.org/http"; var s = http.Server{}`:          0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := servers(f); len(got) != want {
			t.Errorf("%s: found %v, want %d", code, got, want)
		}
	}
}

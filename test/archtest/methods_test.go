package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/gorizond/koldun/test/sourcetest"
)

// mostMethods is how many methods a type may declare: one with more has several concepts.
const mostMethods = 30

// TestMethodsOfTypes counts the methods of each type of the repository, tests included,
// whatever files and operating systems they are for.
func TestMethodsOfTypes(t *testing.T) {
	methods := map[string]int{}
	if err := sourcetest.Walk("../..", func(dir string) error { return countMethods(dir, methods) }); err != nil {
		t.Fatal(err)
	}
	if len(methods) == 0 {
		t.Fatal("no type has a method: is this the root of the repository?")
	}
	for name, n := range methods {
		if n > mostMethods {
			t.Errorf("%s has %d methods, want %d at most: split it by concept", name, n, mostMethods)
		}
	}
}

// countMethods adds the number of methods of each type in a folder, by the names of folder,
// package and type.
func countMethods(dir string, methods map[string]int) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[dir+": "+file.Name.Name+"."+receiver(f.Recv.List[0].Type)]++
			}
		}
	}
	return nil
}

// receiver returns the name of the type of a receiver, without pointer and type parameters.
func receiver(of ast.Expr) string {
	switch e := of.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.ParenExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

package main

import "testing"

func TestStartsCluster(t *testing.T) {
	deps := map[string]*pkg{}
	for path, p := range map[string]*pkg{
		cluster:    {TestImports: []string{"testing"}},
		"m/helper": {Imports: []string{cluster}},
		"m/direct": {TestImports: []string{cluster}},
		"m/by":     {XTestImports: []string{"m/helper"}},
		"m/circle": {TestImports: []string{"m/by"}, Imports: []string{"m/circle"}},
		// Its tests start no control plane, though it helps those that do.
		"m/apart": {Imports: []string{"fmt"}, TestImports: []string{"testing"}},
	} {
		p.ImportPath, p.deps = path, deps
		deps[path] = p
	}
	for path, want := range map[string]bool{cluster: true, "m/direct": true, "m/by": true, "m/circle": false, "m/apart": false} {
		if got := deps[path].startsCluster(); got != want {
			t.Errorf("%s starts a control plane: %t, want %t", path, got, want)
		}
	}
}

// TestList lists this package as go list does.
func TestList(t *testing.T) {
	all, err := list(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || !all[0].tested() || all[0].startsCluster() {
		t.Errorf("listed %+v, want this package", all)
	}
	if _, err := list("./none"); err == nil {
		t.Error("a folder that does not exist is listed")
	}
}

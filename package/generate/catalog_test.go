package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	xpextv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	xppkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	"sigs.k8s.io/yaml"
)

var someDigest = "sha256:" + strings.Repeat("0a", 32)

// TestReleaseComposesEachKindByItsOwnFunction reads the entry of a version as
// Crossplane does.
func TestReleaseComposesEachKindByItsOwnFunction(t *testing.T) {
	files, err := release("v1.2.3", someDigest)(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range flavours() {
		docs := bytes.Split(files["package/catalog/v1.2.3/"+f.entry()+".yaml"], []byte("---\n"))
		var function xppkgv1.Function
		if err := yaml.UnmarshalStrict(docs[0], &function); err != nil {
			t.Fatal(err)
		}
		if want := functionPackage + "@" + someDigest; function.Spec.Package != want || function.Spec.SkipDependencyResolution == nil || !*function.Spec.SkipDependencyResolution {
			t.Errorf("the Function is %+v, want package %s without dependencies", function.Spec.PackageSpec, want)
		}
		kinds, err := filepath.Glob(filepath.Join(root, "package", f.folder, "*", "composition.yaml"))
		if err != nil || len(kinds) == 0 || len(docs) != 1+len(kinds) {
			t.Fatalf("the entry has %d Compositions for %d kinds: %v", len(docs)-1, len(kinds), err)
		}
		for _, doc := range docs[1:] {
			var c xpextv1.Composition
			if err := yaml.UnmarshalStrict(doc, &c); err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(c.Name, ".koldun.gorizond.io-v1-2-3") || c.Labels[versionLabel] != "v1.2.3" || c.Labels[channelLabel] != channelStable {
				t.Errorf("the Composition is %s with the labels %v", c.Name, c.Labels)
			}
			if by := c.Spec.Pipeline[0].FunctionRef.Name; by != function.Name || by == functionName {
				t.Errorf("%s is composed by Function %q, want %q", c.Name, by, function.Name)
			}
			if claim := strings.HasPrefix(c.Spec.CompositeTypeRef.Kind, "X"); claim != f.claims && c.Spec.CompositeTypeRef.Kind != "AutoNodeLabeler" {
				t.Errorf("%s composes a %s", c.Name, c.Spec.CompositeTypeRef.Kind)
			}
		}
	}
}

func TestReleaseRefuses(t *testing.T) {
	taken := t.TempDir()
	if err := os.MkdirAll(filepath.Join(taken, catalogFolder, "v1.0.0"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ root, version, digest, says string }{
		"NoVersion":   {root, "1.2.3", someDigest, "not vMAJOR.MINOR.PATCH"},
		"BuildOfGit":  {root, "v1.2.3-4-gabc-dirty_", someDigest, "not vMAJOR.MINOR.PATCH"},
		"NoDigest":    {root, "v1.2.3", "latest", "64 hex digits"},
		"IsPublished": {taken, "v1.0.0", someDigest, "never change"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := release(c.version, c.digest)(c.root); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, want %q", err, c.says)
			}
		})
	}
}

// TestPublishedVersionsNeverChange runs make catalog-check in repositories that add,
// change, move and remove versions.
func TestPublishedVersionsNeverChange(t *testing.T) {
	makefile, err := filepath.Abs(filepath.Join(root, "package", "package.mk"))
	if err != nil {
		t.Fatal(err)
	}
	const entry = catalogFolder + "/v1.0.0/namespaced.yaml"
	const commit = " && git add -A && git commit -qm change"
	for name, c := range map[string]struct {
		change string
		fails  bool
	}{
		"Nothing":          {"true", false},
		"Another":          {"mkdir package/catalog/v1.1.0 && echo b > package/catalog/v1.1.0/claims.yaml" + commit, false},
		"README":           {"echo more >> package/catalog/README.md" + commit, false},
		"MergeOfOlderWork": {"git checkout -qb work HEAD~1 && echo w > w" + commit + " && git checkout -q main && git merge -q --no-edit work", false},
		"Changed":          {"echo more >> " + entry + commit, true},
		"ChangedHere":      {"echo more >> " + entry, true},
		"ChangedBack":      {"echo more >> " + entry + commit + " && git checkout -q HEAD~1 -- ." + commit, false},
		"RemovedBack":      {"git rm -q " + entry + " && git commit -qm change && git checkout -q HEAD~1 -- ." + commit, false},
		"Replaced":         {"git rm -q " + entry + " && git commit -qm change && mkdir -p package/catalog/v1.0.0 && echo b > " + entry + commit, true},
		"MergeOfCorrected": {"git checkout -qb work && mkdir package/catalog/v1.1.0 && echo b > package/catalog/v1.1.0/claims.yaml" + commit + " && echo c > package/catalog/v1.1.0/claims.yaml" + commit + " && git checkout -q main && git merge -q --no-ff --no-edit work", false},
		"MergeOfChanged":   {"git checkout -qb work && echo more >> " + entry + commit + " && git checkout -q main && git merge -q --no-ff --no-edit work", true},
		"Removed":          {"git rm -q " + entry + " && git commit -qm change", true},
		"Moved":            {"git mv package/catalog/v1.0.0 package/catalog/v1.0.1 && git commit -qm change", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			shell := func(script string) (string, error) {
				cmd := exec.CommandContext(t.Context(), "bash", "-ec", script)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
					"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			const begin = "git init -qb main . && mkdir -p package/catalog && echo a > package/catalog/README.md" + commit +
				" && mkdir package/catalog/v1.0.0 && echo a > " + entry + commit
			if out, err := shell(begin + " && " + c.change); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			out, err := shell("make -s -f " + makefile + " catalog-check")
			if (err != nil) != c.fails || c.fails && !strings.Contains(out, entry) {
				t.Errorf("the check ends with %v: %s", err, out)
			}
		})
	}
}

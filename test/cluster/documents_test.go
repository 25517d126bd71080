package cluster_test

import (
	"bufio"
	"bytes"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gorizond/koldun/test/cluster"
)

// TestDocumentedManifestsAreAccepted has a real API server check the manifests of the
// examples, of the packages, and those that the documents show: a dry run of server-side
// apply, which refuses unknown fields. Minimal CRDs stand for the kinds of other projects.
func TestDocumentedManifestsAreAccepted(t *testing.T) {
	c := shared.Cluster(t)
	installed(t, c)
	for _, other := range [][]string{
		{"argoproj.io", "v1alpha1", "Application"}, {"kustomize.toolkit.fluxcd.io", "v1", "Kustomization"},
		{"source.toolkit.fluxcd.io", "v1", "GitRepository"}, {"monitoring.coreos.com", "v1", "PrometheusRule"},
	} {
		if err := c.Apply(t.Context(), anyKind(other[0], other[1], other[2])); err != nil {
			t.Fatal(err)
		}
	}
	found := documents(t, "../..")
	if len(found) < 50 {
		t.Fatalf("%d manifests are not all that the repository has", len(found))
	}
	for name, manifest := range found {
		t.Run(name, func(t *testing.T) {
			objects, err := cluster.Decode(manifest)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects {
				if ns := o.GetNamespace(); ns != "" {
					if err := c.Client().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}); client.IgnoreAlreadyExists(err) != nil {
						t.Fatal(err)
					}
				}
			}
			if err := c.Accept(t.Context(), "default", manifest); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestKustomizationsAreAccepted has an API server check what kubectl builds of the folders
// that Flux and Argo CD build.
func TestKustomizationsAreAccepted(t *testing.T) {
	c := shared.Cluster(t)
	installed(t, c)
	if err := c.Client().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "models"}}); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	folders := []string{"examples/argocd/app"} // the Application's
	objects, err := cluster.Decode(file(t, "../../examples/flux/koldun.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if path, ok, _ := unstructured.NestedString(o.Object, "spec", "path"); ok {
			folders = append(folders, path)
		}
	}
	if len(folders) != 5 {
		t.Fatalf("Flux builds %q, want four folders", folders[1:])
	}
	for _, folder := range folders {
		c.Kubectl(t, "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-k", "../../"+folder)
	}
}

// documents returns the manifests of the repository by their file, those of Markdown by
// file and place. It leaves out what is no manifest of objects: packages, whose Configurations
// the cluster has, generated documents, and test data.
func documents(t *testing.T, root string) map[string]string {
	t.Helper()
	skipped := regexp.MustCompile(`^(bin|_output|\.git|\.koldun|\.ci|\.github|apis|cmd|internal|functions|provider|test|terraform-provider/docs|package/configuration(-claims)?|package/chart)$|/testdata$|node_modules|package/argocd/(test|koldun.*)`)
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), root+"/")
		switch {
		case skipped.MatchString(name):
			if d.IsDir() {
				return filepath.SkipDir
			}
		case d.Name() == "crossplane.yaml", d.Name() == "kustomization.yaml": // read by programs, not by the API server
		case strings.HasSuffix(name, ".yaml"):
			out[name] = file(t, path)
		case strings.HasSuffix(name, ".md"):
			for i, block := range blocks(file(t, path)) {
				out[name+"-"+string(rune('a'+i))] = block
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// blocks returns the manifests in the code blocks of a Markdown text, fenced or indented
// by four spaces. A manifest begins with its apiVersion.
func blocks(text string) []string {
	var out []string
	var block *bytes.Buffer
	indent := ""
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		line := s.Text()
		switch rest, ok := strings.CutPrefix(line, indent); {
		case block != nil && (ok || line == "") && rest != "```" && rest != "EOF":
			block.WriteString(rest + "\n")
			continue
		case block != nil:
			out, block = append(out, block.String()), nil
		}
		if rest := strings.TrimPrefix(line, "    "); strings.HasPrefix(rest, "apiVersion: ") {
			indent = strings.TrimSuffix(line, rest)
			block = bytes.NewBufferString(rest + "\n")
		}
	}
	if block != nil {
		out = append(out, block.String())
	}
	return out
}

// TestBlocks finds manifests in Markdown.
func TestBlocks(t *testing.T) {
	got := blocks("# T\n```yaml\napiVersion: v1\nkind: A\n```\ntext\n\n    cat <<EOF\n    apiVersion: v1\n\n    kind: B\n    EOF\n    koldun up\n\n    apiVersion: v1\n    kind: C\ntext\n")
	want := []string{"apiVersion: v1\nkind: A\n", "apiVersion: v1\n\nkind: B\n", "apiVersion: v1\nkind: C\n"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q, want %q", got, want)
	}
}

package e2e_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/functions/compose"
	"github.com/gorizond/koldun/functions/router"
	"github.com/gorizond/koldun/test/cluster"
)

// crossplaneCLI runs Crossplane's command-line interface and returns its output.
func crossplaneCLI(t *testing.T, env []string, args ...string) string {
	t.Helper()
	program, err := filepath.Abs(repository + "/bin/crossplane-cli")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		cluster.Missing(t, "crossplane-cli", "make bin/crossplane-cli")
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("cannot run crossplane %q: %v: %s%s", args, err, stderr.Bytes(), stdout.Bytes())
	}
	return stdout.String()
}

// TestCrossplaneRender runs crossplane render and crossplane beta validate on each
// example claim, with our Compositions and the function as a server.
func TestCrossplaneRender(t *testing.T) {
	t.Parallel()
	functions := filepath.Join(t.TempDir(), "functions.yaml")
	if err := os.WriteFile(functions, []byte("{apiVersion: pkg.crossplane.io/v1, kind: Function, metadata: {name: gorizond-koldun-function, annotations: {"+
		"render.crossplane.io/runtime: Development, render.crossplane.io/runtime-development-target: '"+serveFunction(t)+"'}}, spec: {package: koldun-function}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The function asks for the schema of a managed kind to see that the provider is installed.
	schemas := t.TempDir()
	if err := os.WriteFile(filepath.Join(schemas, "managed.json"), []byte(`{"components": {"schemas": {"usage": {"type": "object", "x-kubernetes-group-version-kind": [
		{"group": "koldun.m.gorizond.io", "version": "v1alpha1", "kind": "ProviderConfigUsage"}]}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	rendered := t.TempDir()
	for i, claim := range exampleClaims(t) {
		raw, err := yaml.Marshal(claim)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "claim.yaml")
		if err := os.WriteFile(file, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		composition := repository + "/package/configuration/" + strings.ToLower(claim.GetKind()) + "s/composition.yaml"
		if claim.GetKind() == "Ingress" {
			composition = repository + "/package/configuration/ingresses/composition.yaml"
		}
		out := crossplaneCLI(t, nil, "render", "--include-full-xr", "--required-schemas", schemas, file, composition, functions)
		objects, err := cluster.Decode(out)
		if err != nil {
			t.Fatal(err)
		}
		if _, own, _ := unstructured.NestedMap(claim.Object, "spec", "model"); own && len(objects) < 2 {
			t.Errorf("%s %q composes nothing: %s", claim.GetKind(), claim.GetName(), out)
		}
		if err := os.WriteFile(filepath.Join(rendered, strconv.Itoa(i)+".yaml"), []byte(out), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	// The schemas of Crossplane's own kinds come from its image, unless the cache has them.
	const image = "koldun.test/crossplane:built"
	cache := t.TempDir()
	of := filepath.Join(cache, strings.ReplaceAll(image, ":", "@"))
	if err := os.MkdirAll(of, 0o700); err != nil {
		t.Fatal(err)
	}
	var crds []string
	for _, file := range list(t, repository+"/bin/crossplane.d/crds/*.yaml") {
		crds = append(crds, read(t, file))
	}
	if err := os.WriteFile(filepath.Join(of, "package.yaml"), []byte(strings.Join(crds, "\n---\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	extensions := strings.Join(append(list(t, repository+"/apis/crds/koldun.m.gorizond.io_*.yaml"), repository+"/package/configuration"), ",")
	out := crossplaneCLI(t, nil, "beta", "validate", "--cache-dir", cache, "--crossplane-image", image, extensions, rendered)
	if !strings.Contains(out, "0 failure cases") {
		t.Error(out)
	}
}

// serveFunction returns the address of a server of the function.
func serveFunction(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	fnv1.RegisterFunctionRunnerServiceServer(server, router.New(compose.Config{Image: "koldun:test", Trusted: true}))
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// exampleClaims returns the composites of the examples.
func exampleClaims(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for _, file := range append(list(t, repository+"/examples/quickstart/*.yaml"), list(t, repository+"/examples/claims/*.yaml")...) {
		objects, err := cluster.Decode(read(t, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			if o.GetAPIVersion() == api {
				if o.GetNamespace() == "" && o.GetKind() != "AutoNodeLabeler" {
					o.SetNamespace("default") // as kubectl does
				}
				out = append(out, o)
			}
		}
	}
	return out
}

// traced tests that crossplane beta trace shows what a composite composes.
func (p *suite) traced(t *testing.T, name string, want ...string) {
	t.Helper()
	out := crossplaneCLI(t, []string{"KUBECONFIG=" + p.Kubeconfig()}, "beta", "trace", "--namespace", "default", "dllamas.koldun.gorizond.io", name)
	for _, w := range want {
		if !strings.Contains(out, w) {
			t.Errorf("crossplane beta trace does not show %s:\n%s", w, out)
		}
	}
}

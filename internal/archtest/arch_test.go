// Package archtest checks the import law of the repository transitively, where
// depguard checks the imports of one file.
package archtest_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/gorizond/koldun/internal/sourcetest"
)

const module = "github.com/gorizond/koldun/"

// A rule restricts the dependencies of the packages under from.
type rule struct {
	from []string // path prefixes below the module
	// except are prefixes below from that have a rule of their own.
	except []string
	// never holds prefixes of import paths that they must not depend on, and why.
	never map[string]string
	// only, when set, lists the packages of this module that they may depend on.
	only []string
	// std allows no other module than the standard library.
	std bool
}

var (
	vocabulary = []string{"internal/openai", "internal/modelref", "internal/fault", "internal/topology", "internal/engine", "internal/names", "internal/progress", "internal/bytesize", "internal/backoff", "internal/egress", "internal/linklocal", "internal/jinja", "internal/constrain", "internal/toolcall"}
	adapters   = []string{"internal/hub", "internal/objectstore", "internal/bus", "internal/natsauth", "internal/queue", "internal/engineapi", "internal/manifest", "internal/formats", "internal/embedded", "internal/httpserver", "internal/telemetry", "internal/rawconn"}
	// The registry is the typed view of the bus that the rest of the work level shares.
	registry = []string{"internal/registry"}
	// The external clients also verify artifacts.
	external = []string{"internal/external", "internal/verify"}
	// Packages for tests alone, whose names end in "test", may use these at any level.
	forTests = []string{"internal/waittest", "internal/sourcetest"}
	// nodes labels the nodes of a cluster and workloadstatus watches its pods, so they
	// know Kubernetes, and so does the catalog, which opens their clients.
	nodes   = []string{"internal/external/nodes", "internal/external/workloadstatus"}
	catalog = []string{"internal/external/catalog"}
	kube    = map[string]string{
		"k8s.io/":                "the runtime builds and is tested without a cluster",
		"sigs.k8s.io/controller": "the runtime builds and is tested without a cluster",
		"github.com/crossplane/": "the runtime knows no composition",
	}
)

func rules() map[string]rule {
	return map[string]rule{
		"ForTests":   {from: forTests, std: true, only: forTests},
		"Vocabulary": {from: vocabulary, std: true, only: vocabulary},
		"Adapters":   {from: adapters, never: kube, only: join(vocabulary, adapters)},
		"Registry":   {from: registry, never: kube, only: join(vocabulary, adapters, registry)},
		"Fetch":      {from: []string{"internal/fetch"}, never: kube, only: join(vocabulary, adapters, []string{"internal/fetch"})},
		"Adopt":      {from: []string{"internal/adopt"}, never: kube, only: join(vocabulary, adapters, []string{"internal/adopt", "internal/fetch"})},
		"Verify":     {from: []string{"internal/verify"}, never: kube, only: join(vocabulary, adapters, []string{"internal/verify"})},
		"Convert":    {from: []string{"internal/convert"}, never: kube, only: join(vocabulary, adapters, []string{"internal/convert"})},
		"Dispatch":   {from: []string{"internal/dispatch"}, never: kube, only: join(vocabulary, adapters, []string{"internal/dispatch"})},
		"Llama":      {from: []string{"internal/llama"}, never: kube, only: join(vocabulary, adapters, []string{"internal/llama"})},
		"External":   {from: []string{"internal/external"}, except: join(nodes, catalog), never: kube, only: join(vocabulary, adapters, registry, external)},
		"Nodes":      {from: nodes, only: join(vocabulary, []string{"internal/external"})},
		"Catalog": {from: catalog, only: join(vocabulary, adapters, registry, external), never: map[string]string{
			"github.com/crossplane/": "all programs that manage external resources share the catalog",
		}},
		"Gateway":   {from: []string{"internal/gateway"}, never: kube, only: join(vocabulary, adapters, registry, []string{"internal/gateway"})},
		"Sidecar":   {from: []string{"internal/sidecar"}, never: kube, only: join(vocabulary, adapters, []string{"internal/sidecar"})},
		"Supervise": {from: []string{"internal/supervise"}, never: kube, only: join(vocabulary, adapters, []string{"internal/supervise"})},
		"Local":     {from: []string{"internal/local"}, never: kube, only: join(vocabulary, adapters, registry, external, []string{"internal/local"})},
		"APIs":      {from: []string{"apis"}, only: []string{"apis"}},
		"Terraform": {from: []string{"terraform-provider"}, only: join(vocabulary, adapters, registry, external, []string{"apis", "functions/reason", "terraform-provider"}), never: map[string]string{
			"github.com/crossplane/": "the Terraform provider is built on the same clients, not on Crossplane",
		}},
		"Provider": {from: []string{"provider"}, only: join(vocabulary, adapters, registry, external, []string{"apis", "provider"})},
		"Functions": {from: []string{"functions"}, only: join(vocabulary, []string{"apis", "functions"}), never: map[string]string{
			"github.com/nats-io/": "functions are pure: they open no connection",
			"github.com/aws/":     "functions are pure: they open no connection",
		}},
	}
}

type pkg struct {
	ImportPath string
	Standard   bool
	Deps       []string
}

func TestImportLaw(t *testing.T) {
	pkgs := list(t)
	for name, r := range rules() {
		t.Run(name, func(t *testing.T) {
			matched := false
			for path, p := range pkgs {
				ours, ok := strings.CutPrefix(path, module)
				if !ok || !under(ours, r.from) || under(ours, r.except) || p.Standard {
					continue
				}
				matched = true
				check(t, ours, p, r, pkgs)
			}
			if !matched {
				t.Errorf("no package under %v: was it renamed?", r.from)
			}
		})
	}
}

func check(t *testing.T, ours string, p pkg, r rule, pkgs map[string]pkg) {
	t.Helper()
	for _, dep := range p.Deps {
		own, isOwn := strings.CutPrefix(dep, module)
		allowed := r.only
		if strings.HasSuffix(ours, "test") {
			allowed = join(r.only, forTests)
		}
		if isOwn && r.only != nil && !under(own, allowed) {
			t.Errorf("%s leads to %s, which is above it or beside it", ours, own)
		}
		if !isOwn && r.std && !pkgs[dep].Standard {
			t.Errorf("%s leads to %s: it may use the standard library only", ours, dep)
		}
		for banned, why := range r.never {
			if strings.HasPrefix(dep, banned) {
				t.Errorf("%s leads to %s: %s", ours, dep, why)
			}
		}
	}
}

func under(path string, prefixes []string) bool {
	for _, p := range prefixes {
		if path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}

func join(lists ...[]string) []string {
	var out []string
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func list(t *testing.T) map[string]pkg {
	t.Helper()
	if err := sourcetest.Folders("../.."); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Standard,Deps", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	pkgs := map[string]pkg{}
	d := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs[p.ImportPath] = p
	}
}

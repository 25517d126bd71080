// Package archtest checks the import law of the repository transitively, where
// depguard checks the imports of one file.
package archtest_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gorizond/koldun/test/sourcetest"
)

const module = "github.com/gorizond/koldun/"

// A rule says what the packages of some folders may depend on. A package is in the rule with
// the longest prefix of its path, and a package in no rule fails the test.
type rule struct {
	folders []string // below the module
	// may lists the rules whose packages they may depend on besides their own; all allows any.
	may []string
	// modules lists prefixes of the import paths of other modules that they may depend on;
	// nil allows any.
	modules []string
	// never holds prefixes of import paths that they must not depend on, and why.
	never map[string]string
}

const all = "all"

var (
	// standard is the standard library alone.
	standard = []string{}
	kube     = map[string]string{
		"k8s.io/":                "the runtime builds and is tested without a cluster",
		"sigs.k8s.io/controller": "the runtime builds and is tested without a cluster",
		"github.com/crossplane/": "the runtime knows no composition",
	}
	noCrossplane = map[string]string{
		"github.com/crossplane/": "all programs that manage external resources share these clients, with or without Crossplane",
	}
	pure = map[string]string{
		"github.com/nats-io/": "functions are pure: they open no connection",
		"github.com/aws/":     "functions are pure: they open no connection",
	}
	// vocabulary is what functions, the runtime and both providers share.
	vocabulary = []string{"base", "openai", "model", "engine"}
	clients    = join(vocabulary, []string{"network", "nats", "artifact", "queue"})
	resources  = join(clients, []string{"registry", "external"})
)

// rules is the import law, from the bottom up.
func rules() map[string]rule {
	return map[string]rule{
		"tests": {folders: []string{"test/archtest", "test/sourcetest", "test/waittest"}, modules: standard},
		"base": {modules: standard, folders: []string{
			"internal/backoff", "internal/bytesize", "internal/fault", "internal/names", "internal/network/certs", "internal/network/egress", "internal/network/linklocal",
		}},
		"openai": {folders: []string{"internal/openai"}, may: []string{"base"}, modules: standard},
		"model":  {folders: []string{"internal/model"}, may: []string{"base", "openai"}, modules: []string{"golang.org/x/text/"}},
		"engine": {folders: []string{"internal/engine"}, may: []string{"base", "openai", "model"}, modules: standard},

		"network":   {folders: []string{"internal/network"}, may: []string{"base"}, never: kube},
		"telemetry": {folders: []string{"internal/telemetry"}, may: []string{"base"}, never: kube},
		"nats":      {folders: []string{"internal/nats"}, may: []string{"base", "network"}, never: kube},
		"artifact":  {folders: []string{"internal/artifact"}, may: []string{"base", "model"}, never: kube},
		// The programs of engines, beside the descriptions.
		"engines": {folders: []string{"internal/engine/engineapi", "internal/engine/llama", "internal/engine/supervise"}, may: join(vocabulary, []string{"network"}), never: kube},

		"queue":    {folders: []string{"internal/serving/queue"}, may: join(vocabulary, []string{"network", "nats"}), never: kube},
		"registry": {folders: []string{"internal/serving/registry"}, may: clients, never: kube},
		"dispatch": {folders: []string{"internal/serving/dispatch"}, may: clients, never: kube},
		"gateway":  {folders: []string{"internal/serving/gateway"}, may: join(clients, []string{"registry", "telemetry"}), never: kube},
		"sidecar":  {folders: []string{"internal/serving/sidecar"}, may: join(clients, []string{"engines", "telemetry"}), never: kube},

		"external": {folders: []string{"internal/external"}, may: join(clients, []string{"registry"}), never: kube},
		// nodes labels the nodes of a cluster and workloadstatus watches its pods, so they know
		// Kubernetes, and so does the catalog, which opens their clients.
		"kubernetes": {folders: []string{"internal/external/nodes", "internal/external/workloadstatus"}, may: join(vocabulary, []string{"external"}), never: noCrossplane},
		"catalog":    {folders: []string{"internal/external/catalog"}, may: join(resources, []string{"kubernetes"}), never: noCrossplane},
		"local":      {folders: []string{"internal/local"}, may: resources, never: kube},

		"apis":      {folders: []string{"apis"}},
		"functions": {folders: []string{"functions"}, may: join(vocabulary, []string{"apis", "reason"}), never: pure},
		// Terraform repeats the reasons of the functions.
		"reason":    {folders: []string{"functions/reason"}},
		"provider":  {folders: []string{"provider"}, may: join(resources, []string{"kubernetes", "catalog", "apis"})},
		"terraform": {folders: []string{"terraform-provider"}, may: join(resources, []string{"kubernetes", "catalog", "apis", "reason"}), never: noCrossplane},

		"programs": {folders: []string{"cmd", "package", "test", "terraform-provider/acceptance", "terraform-provider/parity"}, may: []string{all}},
	}
}

// ruleOf returns the name of the rule for a package of this module, or "".
func ruleOf(path string, rules map[string]rule) string {
	name, longest := "", -1
	for n, r := range rules {
		for _, f := range r.folders {
			if len(f) > longest && (path == f || strings.HasPrefix(path, f+"/")) {
				name, longest = n, len(f)
			}
		}
	}
	return name
}

type pkg struct {
	ImportPath string
	Standard   bool
	Deps       []string
}

func TestImportLaw(t *testing.T) {
	pkgs, law := list(t), rules()
	for name, r := range law {
		t.Run(name, func(t *testing.T) {
			for _, f := range r.folders {
				if !slices.ContainsFunc(slices.Collect(maps.Keys(pkgs)), func(path string) bool {
					return path == module+f || strings.HasPrefix(path, module+f+"/")
				}) {
					t.Errorf("no package below %s: was it renamed?", f)
				}
			}
			for path, p := range pkgs {
				if ours, ok := strings.CutPrefix(path, module); ok && ruleOf(ours, law) == name {
					check(t, ours, p, law, pkgs)
				}
			}
		})
	}
	for path := range pkgs {
		if ours, ok := strings.CutPrefix(path, module); ok && ruleOf(ours, law) == "" {
			t.Errorf("%s is in no rule: add its folder to one", ours)
		}
	}
}

func check(t *testing.T, ours string, p pkg, law map[string]rule, pkgs map[string]pkg) {
	t.Helper()
	name := ruleOf(ours, law)
	r := law[name]
	for _, dep := range p.Deps {
		own, isOwn := strings.CutPrefix(dep, module)
		if isOwn && !mayUse(ours, name, ruleOf(own, law), r) {
			t.Errorf("%s (%s) leads to %s (%s), which is above it or beside it", ours, name, own, ruleOf(own, law))
		}
		if !isOwn && r.modules != nil && !pkgs[dep].Standard && !slices.ContainsFunc(r.modules, func(m string) bool { return strings.HasPrefix(dep, m) }) {
			t.Errorf("%s (%s) leads to %s: it may use the standard library and %v", ours, name, dep, r.modules)
		}
		for banned, why := range r.never {
			if strings.HasPrefix(dep, banned) {
				t.Errorf("%s (%s) leads to %s: %s", ours, name, dep, why)
			}
		}
	}
}

func TestAFolderWithoutARule(t *testing.T) {
	for path, want := range map[string]string{"internal/other": "", "internal": "", "internal/engine/llama/api": "engines", "internal/engine/openai": "engine", "functions": "functions", "functions/reason": "reason"} {
		if got := ruleOf(path, rules()); got != want {
			t.Errorf("%s is in rule %q, want %q", path, got, want)
		}
	}
}

// mayUse reports whether package ours of rule r, by name, may depend on a package of another
// rule. Packages for tests alone, whose names end in "test", may use those for all tests.
func mayUse(ours, name, other string, r rule) bool {
	return name == other || slices.Contains(r.may, all) || slices.Contains(r.may, other) ||
		other == "tests" && strings.HasSuffix(ours, "test")
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

// Package tofu runs OpenTofu and Terraform with a provider that was built from
// this repository, for tests: without a registry, from a folder that is laid out
// like one.
package tofu

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// requireEnv makes tests fail that would skip.
const requireEnv = "KOLDUN_REQUIRE_CLUSTER"

// Version is what the provider in the mirror calls itself.
const Version = "0.1.0"

// A Mirror holds a provider as registries do.
type Mirror struct {
	program string // tofu
	config  string // path of the command's configuration
}

// NewMirror builds the provider. The test is skipped if OpenTofu is not built.
func NewMirror(t testing.TB) *Mirror {
	t.Helper()
	root := repository(t)
	program := os.Getenv("KOLDUN_TOFU")
	if program == "" {
		program = filepath.Join(root, "bin", "tofu")
	}
	if _, err := os.Stat(program); err != nil {
		if os.Getenv(requireEnv) == "1" {
			t.Fatalf("cannot find OpenTofu: %v; run: make bin/tofu", err)
		}
		t.Skip("OpenTofu is not built; run: make bin/tofu")
	}
	// One folder for all runs: the provider is large, and seldom changes.
	dir := filepath.Join(root, "_output", "terraform-mirror")
	platform := runtime.GOOS + "_" + runtime.GOARCH
	// Terraform and OpenTofu look up the same source on hosts of their own.
	first := filepath.Join(dir, "registry.opentofu.org", "gorizond", "koldun", Version, platform)
	second := filepath.Join(dir, "registry.terraform.io", "gorizond", "koldun", Version, platform)
	binary := filepath.Join(first, "terraform-provider-koldun_v"+Version)
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w -X main.version="+Version, "-o", binary, "./terraform-provider")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the provider: %v\n%s", err, out)
	}
	if err := os.MkdirAll(second, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(second, filepath.Base(binary))); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.Link(binary, filepath.Join(second, filepath.Base(binary))); err != nil {
		t.Fatal(err)
	}
	m := &Mirror{program: program, config: filepath.Join(dir, "tofurc")}
	rc := `provider_installation {
  filesystem_mirror {
    path    = "` + dir + `"
    include = ["registry.terraform.io/gorizond/*", "registry.opentofu.org/gorizond/*"]
  }
}
disable_checkpoint = true
`
	if err := os.WriteFile(m.config, []byte(rc), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

// Terraform is the mirror with Terraform in place of OpenTofu. The test is
// skipped if none is on PATH.
func (m *Mirror) Terraform(t testing.TB) *Mirror {
	t.Helper()
	program, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("Terraform is not on PATH; run: PATH=FOLDER_OF_TERRAFORM:$PATH go test ./terraform-provider/acceptance")
	}
	return &Mirror{program: program, config: m.config}
}

// Version of the program: "1.12.6".
func (m *Mirror) Version(t testing.TB) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), m.program, "version", "-json")
	cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+m.config)
	out, err := cmd.Output()
	var v struct {
		Version string `json:"terraform_version"`
	}
	if err == nil {
		err = json.Unmarshal(out, &v)
	}
	if err != nil {
		t.Fatalf("cannot tell the version of %s: %v", m.program, err)
	}
	return v.Version
}

// A Folder is a folder with a configuration, and the environment it is used in.
type Folder struct {
	t      testing.TB
	mirror *Mirror
	Dir    string
	Env    []string
}

// Folder makes a folder with a configuration in main.tf, and initialises it.
func (m *Mirror) Folder(t testing.TB, config string, env ...string) *Folder {
	t.Helper()
	f := &Folder{t: t, mirror: m, Dir: t.TempDir(), Env: env}
	f.Write("main.tf", config)
	f.OK("init")
	return f
}

// Copy makes a folder with the files of another, and initialises it.
func (m *Mirror) Copy(t testing.TB, from string, env ...string) *Folder {
	t.Helper()
	f := &Folder{t: t, mirror: m, Dir: t.TempDir(), Env: env}
	if err := os.CopyFS(f.Dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	f.OK("init")
	return f
}

// Write writes a file of the folder.
func (f *Folder) Write(name, content string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.Dir, name), []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// Run runs a command of OpenTofu.
func (f *Folder) Run(args ...string) Result {
	f.t.Helper()
	return f.Start(args...).Wait()
}

// OK runs a command that must succeed, and returns its output.
func (f *Folder) OK(args ...string) string {
	f.t.Helper()
	r := f.Run(args...)
	if r.Exit != 0 {
		f.t.Fatalf("%s %s ends with %d:\n%s", filepath.Base(f.mirror.program), strings.Join(args, " "), r.Exit, r.Out)
	}
	return r.Out
}

// repository is the folder with our go.mod.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("cannot find go.mod above the test")
		}
		dir = parent
	}
}

// Package clitest runs OpenTofu and Terraform in acceptance tests, with a
// provider that is built from this repository, or that of a release, and
// installed from a filesystem mirror.
//
// Tests of what resources and functions do run the CLI by terraform-plugin-testing:
// see Mirror.Test. A Folder is for what that framework cannot do: interrupt an
// apply, look into a saved plan, the log and what the CLI prints, run
// "tofu test", "fmt" and "validate", apply an example as it is, and measure.
package clitest

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gorizond/koldun/test/sourcetest"
)

// requireEnv names the variable that makes a test without OpenTofu fail, not skip.
const requireEnv = "KOLDUN_REQUIRE_CLUSTER"

// Version is the version of the provider in the mirror.
const Version = "0.1.0"

// The hosts on which the CLIs look up a provider that names none.
const (
	openTofuHost  = "registry.opentofu.org"
	terraformHost = "registry.terraform.io"
)

// A Mirror is a CLI and a filesystem mirror with the provider.
type Mirror struct {
	program string // path of tofu or terraform
	host    string // on which the program looks up the provider
	config  string // path of the CLI configuration file
}

// NewMirror builds the provider. It skips the test if OpenTofu is not built.
func NewMirror(t testing.TB) *Mirror {
	t.Helper()
	root := repository(t)
	program := openTofu(t, root)
	// All runs share one folder, because the provider is large and seldom changes.
	dir := filepath.Join(root, "_output", "terraform-mirror")
	platform := runtime.GOOS + "_" + runtime.GOARCH
	first := filepath.Join(dir, openTofuHost, "gorizond", "koldun", Version, platform)
	second := filepath.Join(dir, terraformHost, "gorizond", "koldun", Version, platform)
	binary := filepath.Join(first, "terraform-provider-koldun_v"+Version)
	if err := sourcetest.Program(t.Context(), root, "terraform-provider"); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w -X main.version="+Version, "-o", binary, "./terraform-provider")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the provider: %v\n%s", err, out)
	}
	if err := os.MkdirAll(second, 0o750); err != nil {
		t.Fatal(err)
	}
	link(t, binary, second)
	return newMirror(t, program, dir)
}

// NewReleaseMirror returns a mirror with the archive of the provider in files, the folder of
// a release. It skips the test if OpenTofu is not built.
func NewReleaseMirror(t testing.TB, files string) *Mirror {
	t.Helper()
	program := openTofu(t, repository(t))
	pattern := filepath.Join(files, "terraform-provider-koldun_*_"+runtime.GOOS+"_"+runtime.GOARCH+".zip")
	archives, err := filepath.Glob(pattern)
	if err != nil || len(archives) != 1 {
		t.Fatalf("cannot find the one archive %q of the provider: %v, %v", pattern, archives, err)
	}
	dir := t.TempDir()
	for _, host := range []string{openTofuHost, terraformHost} {
		folder := filepath.Join(dir, host, "gorizond", "koldun")
		if err := os.MkdirAll(folder, 0o750); err != nil {
			t.Fatal(err)
		}
		link(t, archives[0], folder)
	}
	return newMirror(t, program, dir)
}

// openTofu returns the path of OpenTofu.
func openTofu(t testing.TB, root string) string {
	t.Helper()
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
	return program
}

// link gives a file another name, in a folder, in place of what has it.
func link(t testing.TB, file, folder string) {
	t.Helper()
	file, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(folder, filepath.Base(file))
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.Symlink(file, name); err != nil {
		t.Fatal(err)
	}
}

// newMirror returns the mirror in a folder.
func newMirror(t testing.TB, program, dir string) *Mirror {
	t.Helper()
	m := &Mirror{program: program, host: openTofuHost, config: filepath.Join(dir, "tofurc")}
	rc := `provider_installation {
  filesystem_mirror {
    path    = "` + dir + `"
    include = ["` + terraformHost + `/gorizond/*", "` + openTofuHost + `/gorizond/*"]
  }
}
disable_checkpoint = true
`
	if err := os.WriteFile(m.config, []byte(rc), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

// Terraform returns the mirror with Terraform in place of OpenTofu. It skips the
// test if Terraform is not on PATH.
func (m *Mirror) Terraform(t testing.TB) *Mirror {
	t.Helper()
	program, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("Terraform is not on PATH; run: PATH=FOLDER_OF_TERRAFORM:$PATH go test ./terraform-provider/acceptance")
	}
	return &Mirror{program: program, host: terraformHost, config: m.config}
}

// Version returns the version of the program, such as "1.12.6".
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
		t.Fatalf("cannot read the version of %s: %v", m.program, err)
	}
	return v.Version
}

// repository returns the folder of go.mod.
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

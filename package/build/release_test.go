package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"sigs.k8s.io/yaml"

	"github.com/gorizond/koldun/test/sourcetest"
	"github.com/gorizond/koldun/test/waittest"
)

const version = "v1.2.3-rc.1"

// A published release is what users get: its files, and a registry with its images.
type published struct {
	files string
	host  string // of the registry
}

// TestRelease builds a release for this machine, publishes it to a registry as the
// workflow does, and installs each part from there.
func TestRelease(t *testing.T) {
	t.Chdir("../..")
	p := publish(t)
	t.Run("Packages", p.packages)
	t.Run("Programs", p.programs)
	t.Run("CommandLine", p.commandLine)
	t.Run("Terraform", p.terraform)
	t.Run("Digests", p.digests)
	t.Run("Everything", p.everything)
	t.Run("Foreign", p.foreign)
	t.Run("Materials", p.materials)
}

func publish(t *testing.T) published {
	t.Helper()
	for _, program := range []string{"cmd/koldun", "functions", "provider", "terraform-provider"} {
		if err := sourcetest.Program(t.Context(), ".", program); err != nil {
			t.Fatal(err)
		}
	}
	if err := sourcetest.Folders("package"); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "release")
	c := ReleaseCmd{Helm: built(t, "helm"), Source: Source{
		Version: version, Commit: "abc", Date: 1_000_000_000, Platforms: []string{"linux/" + runtime.GOARCH}, Channel: "stable", Out: out,
		Digest: map[string]string{},
	}}
	for _, image := range must(foreignImages(t.Context()))(t) {
		c.Digest[image] = digest
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	p := published{files: filepath.Join(out, files), host: strings.TrimPrefix(server.URL, "http://")}
	for image := range strings.Lines(string(must(os.ReadFile(filepath.Join(out, layouts, "images.txt")))(t))) {
		tag, digest, _ := strings.Cut(strings.TrimSpace(image), "@")
		pushed := push(t, filepath.Join(out, layouts, filepath.Base(strings.TrimSuffix(tag, ":"+version))), p.at(t, tag))
		if pushed != digest {
			t.Errorf("%s has the digest %s in the registry, want %s", tag, pushed, digest)
		}
	}
	return p
}

// push publishes a layout as crane push does, and returns the digest in the registry.
func push(t *testing.T, folder string, to name.Reference) string {
	t.Helper()
	index := must(layout.ImageIndexFromPath(folder))(t)
	only := must(index.IndexManifest())(t).Manifests[0]
	var err error
	if only.MediaType.IsIndex() {
		err = remote.WriteIndex(to, must(index.ImageIndex(only.Digest))(t))
	} else {
		err = remote.Write(to, must(index.Image(only.Digest))(t))
	}
	if err != nil {
		t.Fatalf("cannot push %s: %v", to, err)
	}
	return must(remote.Head(to))(t).Digest.String()
}

// at returns where the test's registry has an image of ghcr.io.
func (p published) at(t *testing.T, image string) name.Reference {
	t.Helper()
	return must(name.ParseReference(strings.Replace(image, "ghcr.io", p.host, 1), name.Insecure))(t)
}

// pull returns an image as this machine gets it.
func (p published) pull(t *testing.T, image string) v1.Image {
	t.Helper()
	return must(remote.Image(p.at(t, image), remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH})))(t)
}

// packages follows install.yaml: each package and what it depends on is there, and has
// the version.
func (p published) packages(t *testing.T) {
	for file, configuration := range map[string]string{"install.yaml": "koldun-configuration", "install-claims.yaml": "koldun-configuration-claims"} {
		installed := map[string]string{} // digests by repository
		for object := range strings.SplitSeq(string(must(os.ReadFile(filepath.Join(p.files, file)))(t)), "\n---\n") {
			var o struct {
				Spec struct {
					Package string `json:"package"`
				} `json:"spec"`
			}
			if err := yaml.Unmarshal([]byte(object), &o); err != nil {
				t.Fatal(err)
			}
			if o.Spec.Package == "" {
				continue
			}
			tag, digest, _ := strings.Cut(o.Spec.Package, "@")
			installed[strings.TrimSuffix(tag, ":"+version)] = digest
			if labels := must(p.pull(t, o.Spec.Package).ConfigFile())(t).Config.Labels; labels["org.opencontainers.image.version"] != version {
				t.Errorf("%s has the labels %v", o.Spec.Package, labels)
			}
		}
		if len(installed) != 3 {
			t.Fatalf("%s installs %v, want three packages", file, installed)
		}
		root, _, _ := strings.Cut(strings.TrimPrefix(content(t, p.pull(t, "ghcr.io/gorizond/"+configuration+"@"+installed["ghcr.io/gorizond/"+configuration]), packageFile), "---\n"), "\n---\n")
		var meta struct {
			Spec struct {
				DependsOn []struct {
					Package string `json:"package"`
					Version string `json:"version"`
				} `json:"dependsOn"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal([]byte(root), &meta); err != nil || len(meta.Spec.DependsOn) != 2 {
			t.Fatalf("%s depends on %v, %v, want two packages", configuration, meta.Spec.DependsOn, err)
		}
		for _, d := range meta.Spec.DependsOn {
			if d.Version != installed[d.Package] {
				t.Errorf("%s depends on %s of version %s, and %s installs %s", configuration, d.Package, d.Version, file, installed[d.Package])
			}
			if found := content(t, p.pull(t, d.Package+"@"+d.Version), packageFile); !strings.Contains(found, "meta.pkg.crossplane.io") {
				t.Errorf("%s is no package: %s", d.Package, found)
			}
		}
	}
}

// programs runs the images: the Function composes pods with the image of the release.
func (p published) programs(t *testing.T) {
	image := "ghcr.io/gorizond/koldun:" + version
	if got := p.run(t, []byte(content(t, p.pull(t, image), entrypoint)), "version"); got != version+"\n" {
		t.Errorf("the image has version %q", got)
	}
	want := image + "@" + must(remote.Head(p.at(t, image)))(t).Digest.String()
	if got := p.run(t, []byte(content(t, p.pull(t, "ghcr.io/gorizond/koldun-function:"+version), entrypoint)), "--help"); !strings.Contains(strings.Join(strings.Fields(got), ""), want) {
		t.Errorf("the Function does not compose pods with %s by default:\n%s", want, got)
	}
}

// run runs a program and returns what it prints.
func (p published) run(t *testing.T, program []byte, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, program, 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(waittest.Context(t), path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

func (p published) commandLine(t *testing.T) {
	z := must(gzip.NewReader(bytes.NewReader(p.read(t, "koldun_1.2.3-rc.1_linux_"+runtime.GOARCH+".tar.gz"))))(t)
	found := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			break
		}
		if !h.ModTime.Equal(time.Unix(1_000_000_000, 0)) {
			t.Errorf("%s has the time %s, want that of the commit", h.Name, h.ModTime)
		}
		found[h.Name] = must(io.ReadAll(r))(t)
	}
	if got := p.run(t, found["koldun"], "version"); got != version+"\n" || len(found["LICENSE"]) == 0 {
		t.Errorf("the archive has version %q and the files %v", got, sorted(found))
	}
}

// terraform has OpenTofu install the provider from a mirror, which has archives as
// registries do.
func (p published) terraform(t *testing.T) {
	tofu := built(t, "tofu")
	const provider = "terraform-provider-koldun_1.2.3-rc.1_"
	sums := string(p.read(t, provider+"SHA256SUMS"))
	for _, file := range []string{provider + "linux_" + runtime.GOARCH + ".zip", provider + "manifest.json"} {
		if line := fmt.Sprintf("%x  %s\n", sha256.Sum256(p.read(t, file)), file); !strings.Contains(sums, line) {
			t.Errorf("the digests lack %q: %s", line, sums)
		}
	}
	archive := p.read(t, provider+"linux_"+runtime.GOARCH+".zip")
	entry := must(zip.NewReader(bytes.NewReader(archive), int64(len(archive))))(t).File[0]
	if entry.Name != "terraform-provider-koldun_"+version || entry.Mode().Perm() != 0o755 {
		t.Errorf("the archive has %s with mode %s", entry.Name, entry.Mode())
	}
	folder := rootOf(t, map[string]string{
		"mirror/registry.opentofu.org/gorizond/koldun/" + provider + "linux_" + runtime.GOARCH + ".zip": string(archive),
		"main.tf": "terraform {\n  required_providers {\n    koldun = {\n      source  = \"gorizond/koldun\"\n      version = \"1.2.3-rc.1\"\n    }\n  }\n}\n" +
			"output \"model\" {\n  value = provider::koldun::parse_model_ref(\"hf://org/model\")\n}\n",
	})
	config := filepath.Join(folder, "tofurc")
	rc := "disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    path = \"" + filepath.Join(folder, "mirror") + "\"\n  }\n}\n"
	if err := os.WriteFile(config, []byte(rc), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-no-color"}, {"validate", "-no-color"}} {
		cmd := exec.CommandContext(waittest.Context(t), tofu, args...)
		cmd.Dir, cmd.Env = folder, append(os.Environ(), "TF_CLI_CONFIG_FILE="+config, "KUBECONFIG=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("tofu %s: %v\n%s", args[0], err, out)
		}
	}
}

// built returns the path of a foreign program of the repository, or of KOLDUN_NAME. A test
// whose program is not built is skipped.
func built(t *testing.T, name string) string {
	t.Helper()
	path := must(filepath.Abs(cmp.Or(os.Getenv("KOLDUN_"+strings.ToUpper(name)), "bin/"+name)))(t)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("KOLDUN_REQUIRE_CLUSTER") == "1" {
			t.Fatalf("cannot find %s: %v; run: make bin/%s", name, err, name)
		}
		t.Skipf("%s is not built; run: make bin/%s", name, name)
	}
	return path
}

func (p published) digests(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(string(p.read(t, "SHA256SUMS"))), "\n")
	entries := must(os.ReadDir(p.files))(t)
	if len(lines) != len(entries)-1 {
		t.Errorf("SHA256SUMS has %d files, want %d: all but itself", len(lines), len(entries)-1)
	}
	for _, line := range lines {
		sum, file, _ := strings.Cut(line, "  ")
		if got := fmt.Sprintf("%x", sha256.Sum256(p.read(t, file))); got != sum {
			t.Errorf("%s has the digest %s, want %s", file, sum, got)
		}
	}
}

func (p published) materials(t *testing.T) {
	for program, module := range map[string]string{
		"koldun": "github.com/nats-io/nats.go", "koldun-function": "github.com/crossplane/function-sdk-go", "koldun-provider": "github.com/crossplane/crossplane-runtime/v2",
		"terraform-provider-koldun": "github.com/hashicorp/terraform-plugin-framework",
	} {
		var bill cdx.BOM
		if err := cdx.NewBOMDecoder(bytes.NewReader(p.read(t, program+"_1.2.3-rc.1.cdx.json")), cdx.BOMFileFormatJSON).Decode(&bill); err != nil {
			t.Fatal(err)
		}
		if bill.Metadata.Component.Version != version || bill.Metadata.Timestamp != "2001-09-09T01:46:40Z" {
			t.Errorf("%s: the bill is of %+v at %s", program, bill.Metadata.Component, bill.Metadata.Timestamp)
		}
		found := false
		for _, c := range *bill.Components {
			found = found || strings.HasPrefix(c.PackageURL, "pkg:golang/"+module+"@v")
		}
		if !found {
			t.Errorf("%s: the bill lacks %s", program, module)
		}
	}
}

func (p published) read(t *testing.T, file string) []byte {
	t.Helper()
	return must(os.ReadFile(filepath.Join(p.files, file)))(t)
}

// TestSameBytes builds a program in two folders, and packs it twice.
func TestSameBytes(t *testing.T) {
	var before []byte
	for range 2 {
		t.Chdir(rootOf(t, map[string]string{"go.mod": "module example.org/a\n\ngo 1.26\n", "hello/main.go": "package main\n\nfunc main() { panic(version) }\n\nvar version string\n"}))
		b := &build{source: source{version: version, date: time.Unix(1_000_000_000, 0)}, trimpath: true, modules: map[string]modules{}}
		program := must(b.program(context.Background(), "hello", "hello", "linux/"+runtime.GOARCH, map[string]string{"main.b": "2", "main.a": "1"}))(t)
		got := bytes.Join([][]byte{program, must(b.tarball(file{"hello", program, 0o755}))(t), must(b.zipped(file{name: "hello", content: program}))(t)}, nil)
		if before != nil && !bytes.Equal(got, before) {
			t.Error("the same sources give different bytes")
		}
		before = got
	}
}
